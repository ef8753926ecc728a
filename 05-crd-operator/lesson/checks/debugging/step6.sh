#!/bin/sh
# Step 6: the operator leaves the At alone.
cd "$(dirname "$0")/../../.." || exit 1

if [ "$(grep -c generation mended.log 2>/dev/null)" != 2 ] || [ "$(sort -u mended.log | wc -l)" -ne 1 ]; then
	echo "mended.log does not show the same resource version twice: run bin/controllerruntime, and print it a second apart"
	exit 1
fi
echo done
