#!/bin/sh
# Step 5: fleet.yaml has been written, and then corrected.
cd "$(dirname "$0")/../.." || exit 1

if [ ! -f fleet.yaml ]; then
	echo "fleet.yaml is not there yet: write it with the first command of step 5"
	exit 1
fi
if ! output=$(./resource-builder --unstructured -f fleet.yaml 2>&1); then
	echo "fleet.yaml is not yet right: $output" | head -n 1
	exit 1
fi
if [ "$(echo "$output" | wc -l)" -ne 3 ]; then
	echo "fleet.yaml should name three objects: two boats and a node"
	exit 1
fi
echo done
