#!/bin/sh
# A cluster of one runs.
cd "$(dirname "$0")/../../../.." || exit 1

if [ "$(kubectl get pgc one -o jsonpath='{.status.phase} {.status.primary}' 2>/dev/null)" != "Running one-1" ]; then
	echo "the cluster one is not Running yet: run the operator, and create a cluster of size 1 with this name"
	exit 1
fi
echo done
