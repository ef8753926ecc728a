#!/bin/sh
# One At was run step by step, and a shell has read its command.
cd "$(dirname "$0")/../../.." || exit 1

if [ ! -x bin/controllerruntime ]; then
	echo "controllerruntime is not built yet: go build -o bin/ ./cmd/controllerruntime"
	exit 1
fi
if [ "$(kubectl get at example-at -o jsonpath='{.status.phase}' 2>/dev/null)" != DONE ]; then
	echo "the At example-at is not DONE yet: create it, and run controllerruntime"
	exit 1
fi
if [ "$(kubectl logs example-at-pod 2>/dev/null)" != yay ]; then
	echo "the pod example-at-pod has not printed yay: let the command of example-at be echo YAY | tr A-Z a-z"
	exit 1
fi
if [ -n "$(kubectl get pod example-at-pod -o jsonpath='{.metadata.finalizers}')" ]; then
	echo "the pod example-at-pod still has its finalizer: let controllerruntime run until it is removed"
	exit 1
fi
echo done
