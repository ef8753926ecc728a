#!/bin/sh
# Step 3: a list came from the watch cache while etcd was stopped, and etcd runs again.
cd "$(dirname "$0")/../.." || exit 1

if ! grep -q '"kind":"NamespaceList"' stale.json 2>/dev/null; then
	echo "stale.json does not hold a list yet: stop etcd, and list with resourceVersion=0, as in the block of step 3"
	exit 1
fi
if ! ./list >/dev/null 2>&1; then
	echo "the cluster does not answer; is etcd still stopped? kill -CONT \"\$(lab status | awk '/^etcd/ { print \$2 }')\""
	exit 1
fi
echo done
