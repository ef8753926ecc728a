#!/bin/sh
# Step 3: the operator rests, takes back what is its own, and leaves the rest.
cd "$(dirname "$0")/../../../.." || exit 1

if [ "$(grep -c '^generation' grown-versions.log 2>/dev/null)" != 2 ] || [ "$(sort -u grown-versions.log | wc -l)" != 1 ]; then
	echo "grown-versions.log does not show one resource version twice: run bin/grown, and print it a second apart"
	exit 1
fi
if [ "$(kubectl get deployment eddystone -o jsonpath='{.spec.replicas}' 2>/dev/null)" != 3 ]; then
	echo "the Deployment eddystone does not have 3 replicas: is the operator running?"
	exit 1
fi
if ! kubectl get deployment eddystone -o jsonpath='{.spec.template.metadata.annotations}' | grep -q restartedAt; then
	echo "nobody has restarted the Deployment yet: kubectl rollout restart deployment eddystone"
	exit 1
fi
echo done
