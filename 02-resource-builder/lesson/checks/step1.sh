#!/bin/sh
# Step 1: first/ is built, and reaches the cluster.
cd "$(dirname "$0")/../.." || exit 1

if [ ! -x list ]; then
	echo "first/ is not built yet: go build -o list ./first"
	exit 1
fi
if ! output=$(./list 2>&1); then
	echo "list does not reach a cluster ($output); start the lab, then eval \"\$(make -s -C .. env)\""
	exit 1
fi
echo done
