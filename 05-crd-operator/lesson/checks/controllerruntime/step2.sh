#!/bin/sh
# A pod that was deleted while the operator was down is in the status of its At.
cd "$(dirname "$0")/../../.." || exit 1

if [ "$(kubectl get at once -o jsonpath='{.status.conditions[?(@.type=="Failed")].reason}' 2>/dev/null)" != PodDeleted ]; then
	echo "the At once has not failed with PodDeleted yet: delete its pod while controllerruntime is down, and start it again"
	exit 1
fi
if kubectl get pod once-pod >/dev/null 2>&1; then
	echo "the pod once-pod is still there: let controllerruntime run until its finalizer is removed"
	exit 1
fi
echo done
