#!/bin/sh
# The API server serves PostgresClusters.
cd "$(dirname "$0")/../../../.." || exit 1

if ! kubectl get postgresclusters >/dev/null 2>&1; then
	echo "the API server does not know PostgresClusters yet: kubectl apply -f postgres/config/crd"
	exit 1
fi
echo done
