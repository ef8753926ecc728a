#!/bin/sh
# Step 2: the server has been asked by hand, and the client reaches it, too.
cd "$(dirname "$0")/../.." || exit 1

if ! grep -q '"kind":"Namespace"' default.json 2>/dev/null; then
	echo "default.json does not hold the answer yet: kubectl get --raw /api/v1/namespaces/default | tee default.json"
	exit 1
fi
if ! output=$(./client-list 2>&1); then
	echo "client-list does not reach the cluster: $output"
	exit 1
fi
echo done
