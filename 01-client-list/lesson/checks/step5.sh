#!/bin/sh
# Step 5: the finished program is built, and the service account may list.
cd "$(dirname "$0")/../.." || exit 1

if [ ! -x client-list ]; then
	echo "client-list is not built yet: go build -o client-list ."
	exit 1
fi
if ! output=$(./client-list --kubeconfig=reader.kubeconfig 2>&1); then
	echo "the service account reader may not list yet: $output"
	exit 1
fi
echo done
