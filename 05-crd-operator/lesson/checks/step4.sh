#!/bin/sh
# Step 4: the pod that was deleted was not made again, and the At says why.
cd "$(dirname "$0")/../.." || exit 1

if [ "$(kubectl get at once -o jsonpath='{.status.conditions[?(@.type=="Failed")].reason}' 2>/dev/null)" != PodDeleted ]; then
	echo "the At once does not say that its pod was deleted: delete once-pod while it is RUNNING and the operator runs"
	exit 1
fi
if [ -n "$(kubectl get pods -l app=once -o name)" ]; then
	echo "the At once has a pod, which should have been deleted"
	exit 1
fi
echo done
