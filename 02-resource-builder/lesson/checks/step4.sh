#!/bin/sh
# Step 4: the server has boats, and the program can tell about them.
cd "$(dirname "$0")/../.." || exit 1

if ! output=$(./resource-builder boats --unstructured 2>&1); then
	echo "the server does not know boats yet: kubectl apply -f harbour/crd.yaml ($output)"
	exit 1
fi
if ! echo "$output" | grep -q '^Boat gull in namespace default is currently Moored'; then
	echo "the boat gull is not moored yet: apply harbour/boats.yaml, then patch its status"
	exit 1
fi
echo done
