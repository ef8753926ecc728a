#!/bin/sh
# Step 1: the finalizer was found; without it the command ran twice, and with it the operator let the pod go.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q 'bell-pod.*T.*Z.*cnat.programming-kubernetes.info/tracking.*controllerruntime' stuck.log 2>/dev/null; then
	echo "stuck.log does not show a deleted bell-pod with the finalizer of the operator: stop the operator, delete the pod, and print it"
	exit 1
fi
if [ "$(grep -c Started twice.log 2>/dev/null)" != 2 ]; then
	echo "twice.log does not have two events Started: remove the finalizer while the operator is down, then start it"
	exit 1
fi
if kubectl get pod bell-pod >/dev/null 2>&1 || kubectl get at bell >/dev/null 2>&1; then
	echo "bell or its pod is still there: start the operator, and delete the At when the pod is gone"
	exit 1
fi
echo done
