#!/bin/sh
# Step 4: the server has boats in one group, and the cache has those of another, which is gone.
cd "$(dirname "$0")/../.." || exit 1

if [ "$(kubectl get boats.harbour.example.com gull -o jsonpath='{.status.phase}' 2>&1)" != Moored ]; then
	echo "the boat gull is not moored yet: create harbour/crd.yaml and harbour/boats.yaml, then patch its status"
	exit 1
fi
if ! ls -d cache/discovery/*/arctic.example.com >/dev/null 2>&1; then
	echo "the cache has no boats of arctic.example.com yet: run the blocks about a kind in two groups"
	exit 1
fi
if kubectl get crd boats.arctic.example.com >/dev/null 2>&1; then
	echo "the server still has the other boats: kubectl delete crd boats.arctic.example.com"
	exit 1
fi
echo done
