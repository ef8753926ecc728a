#!/bin/sh
# Step 6: a chunk was read without a clientset, and chunks lose nothing.
cd "$(dirname "$0")/../.." || exit 1

if ! grep -q '"continue":"' chunk.json 2>/dev/null; then
	echo "chunk.json does not hold a chunk yet: kubectl get --raw '/api/v1/namespaces?limit=2' > chunk.json"
	exit 1
fi
if [ "$(./client-list --chunk-size=2 2>&1)" != "$(./list 2>&1)" ]; then
	echo "chunks of 2 do not print what the whole list prints: compare ./client-list --chunk-size=2 with ./list"
	exit 1
fi
echo done
