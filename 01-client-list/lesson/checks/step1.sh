#!/bin/sh
# Step 1: first/ is built, and lists the namespace that was made.
cd "$(dirname "$0")/../.." || exit 1

if [ ! -x list ]; then
	echo "first/ is not built yet: go build -o list ./first"
	exit 1
fi
if ! list=$(./list 2>&1); then
	echo "list does not reach a cluster ($list); start the lab, then eval \"\$(make -s -C .. env)\""
	exit 1
fi
if ! echo "$list" | grep -qx harbour; then
	echo "there is no namespace harbour yet: kubectl create namespace harbour"
	exit 1
fi
echo done
