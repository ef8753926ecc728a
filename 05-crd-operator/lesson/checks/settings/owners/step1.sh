#!/bin/sh
# The garbage collector has deleted the ConfigMap.
cd "$(dirname "$0")/../../../.." || exit 1

if ! layers=$(kubectl get layers -o name 2>&1); then
	echo "the cluster does not know layers: make them, as in step 1"
	exit 1
fi
if [ -n "$layers" ]; then
	echo "there are layers still: kubectl delete layers --all"
	exit 1
fi
if kubectl get configmap settings >/dev/null 2>&1; then
	echo "the ConfigMap settings is still there: wait for the garbage collector"
	exit 1
fi
echo done
