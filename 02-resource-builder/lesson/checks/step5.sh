#!/bin/sh
# Step 5: boats are printed without a Go type, and the stale cache is gone.
cd "$(dirname "$0")/../.." || exit 1

if ls -d cache/discovery/*/arctic.example.com >/dev/null 2>&1; then
	echo "the discovery cache in ./cache still has the boats that are gone: rm -r cache"
	exit 1
fi
if ! KUBECACHEDIR=cache ./resource-builder boats --unstructured 2>&1 | grep -q '^Boat gull in namespace default is currently Moored'; then
	echo "resource-builder does not print the boats: KUBECACHEDIR=cache ./resource-builder boats --unstructured"
	exit 1
fi
echo done
