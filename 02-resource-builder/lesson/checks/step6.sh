#!/bin/sh
# Step 6: some documents of fleet.yaml are broken, and the others are printed.
cd "$(dirname "$0")/../.." || exit 1

if [ ! -f fleet.yaml ]; then
	echo "fleet.yaml is not there yet: write it with the block of step 6"
	exit 1
fi
output=$(./resource-builder --unstructured -f fleet.yaml 2>&1)
for want in 'Boat gull' 'Boat heron' 'error: .*swan' 'error: .*Raft'; do
	if ! echo "$output" | grep -q "^$want"; then
		echo "resource-builder prints nothing like \"$want\" for fleet.yaml; write the file as in step 6"
		exit 1
	fi
done
echo done
