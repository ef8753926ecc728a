#!/bin/sh
# Step 5: there is a long list, and a chunk was read without a clientset.
cd "$(dirname "$0")/../.." || exit 1

if [ "$(./list 2>&1 | grep -c '^page-')" -ne 20 ]; then
	echo "there are no twenty namespaces page-1, page-2, ... yet: run the first block of step 5"
	exit 1
fi
if ! grep -q '"continue":"' chunk.json 2>/dev/null; then
	echo "chunk.json does not hold a chunk yet: kubectl get --raw '/api/v1/namespaces?limit=2' > chunk.json"
	exit 1
fi
echo done
