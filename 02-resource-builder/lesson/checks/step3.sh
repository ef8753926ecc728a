#!/bin/sh
# Step 3: the finished program is built, and has filled a discovery cache in ./cache.
cd "$(dirname "$0")/../.." || exit 1

if [ ! -x resource-builder ]; then
	echo "resource-builder is not built yet: go build -o resource-builder ."
	exit 1
fi
if ! ls cache/discovery/*/apps/v1/serverresources.json >/dev/null 2>&1; then
	echo "there is no discovery cache in ./cache yet: KUBECACHEDIR=cache ./resource-builder nodes"
	exit 1
fi
echo done
