#!/bin/sh
# Step 2: without the finalizer the command was run twice; with it, the operator let the pod go.
cd "$(dirname "$0")/../../.." || exit 1

if [ "$(grep -c Started twice.log 2>/dev/null)" != 2 ]; then
	echo "twice.log does not have two events Started: remove the finalizer while the operator is down, then start it"
	exit 1
fi
if kubectl get pod bell-pod >/dev/null 2>&1 || kubectl get at bell >/dev/null 2>&1; then
	echo "bell or its pod is still there: start the operator, and delete the At when the pod is gone"
	exit 1
fi
echo done
