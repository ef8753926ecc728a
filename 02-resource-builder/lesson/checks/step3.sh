#!/bin/sh
# Step 3: discovery has been asked, and its answer kept in ./cache.
cd "$(dirname "$0")/../.." || exit 1

if ! ls cache/discovery/*/apps/v1/serverresources.json >/dev/null 2>&1; then
	echo "there is no cache of discovery in ./cache yet: KUBECACHEDIR=cache ./resource-builder nodes"
	exit 1
fi
echo done
