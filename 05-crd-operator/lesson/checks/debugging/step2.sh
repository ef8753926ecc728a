#!/bin/sh
# Step 2: the resource version ran away, and the metrics show a PUT for each reconcile.
cd "$(dirname "$0")/../../.." || exit 1

if [ "$(sort -u versions.log 2>/dev/null | wc -l)" -ne 2 ]; then
	echo "versions.log does not show two different resource versions: run bin/hot, and print them a second apart"
	exit 1
fi
if ! grep -q '^rest_client_requests_total.*method="PUT"' metrics.log 2>/dev/null; then
	echo "metrics.log does not show PUT requests: build bin/hot with both patches, and read its metrics while it runs"
	exit 1
fi
if ! git diff --quiet -- controllerruntime lifecycle; then
	echo "the patches are still applied: undo them with git apply -R"
	exit 1
fi
echo done
