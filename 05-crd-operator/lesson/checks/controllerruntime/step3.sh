#!/bin/sh
# The At of an operator that crashed has its pod; the one that was deleted has none.
cd "$(dirname "$0")/../../.." || exit 1

if [ "$(kubectl logs crashed-pod 2>/dev/null)" != YAY ]; then
	echo "the pod crashed-pod has not printed YAY yet: create the At crashed, kill controllerruntime between RUNNING and the pod, and start it again"
	exit 1
fi
if ! grep -q 'reading the At default/deleted' live.log 2>/dev/null; then
	echo "live.log does not show yet that the At deleted could not be read: create it while the lab refuses the live read"
	exit 1
fi
if kubectl get at deleted >/dev/null 2>&1; then
	echo "the At deleted is still there: kubectl delete at deleted"
	exit 1
fi
if kubectl get pod deleted-pod >/dev/null 2>&1; then
	echo "there is a pod deleted-pod: delete the At before controllerruntime can read it"
	exit 1
fi
echo done
