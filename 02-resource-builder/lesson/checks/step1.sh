#!/bin/sh
# Step 1: the program is built, and reaches the cluster.
cd "$(dirname "$0")/../.." || exit 1

if [ ! -x resource-builder ]; then
	echo "resource-builder is not built yet: go build -o resource-builder ."
	exit 1
fi
if ! output=$(./resource-builder namespace default 2>&1); then
	echo "resource-builder does not reach a cluster: $output"
	exit 1
fi
echo done
