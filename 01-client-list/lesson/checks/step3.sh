#!/bin/sh
# Step 3: client-list shows the namespace that was made.
cd "$(dirname "$0")/../.." || exit 1

if ! list=$(./client-list 2>&1); then
	echo "client-list does not list: $list"
	exit 1
fi
if ! echo "$list" | grep -qx harbour; then
	echo "there is no namespace harbour yet: kubectl create namespace harbour"
	exit 1
fi
echo done
