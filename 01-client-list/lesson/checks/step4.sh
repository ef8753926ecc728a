#!/bin/sh
# Step 4: there is a kubeconfig for each failure, and a long list.
cd "$(dirname "$0")/../.." || exit 1

for name in closed reader stranger; do
	if [ ! -s "$name.kubeconfig" ]; then
		echo "$name.kubeconfig is not there yet: run the block of step 4 that makes it"
		exit 1
	fi
done
if [ "$(./list 2>&1 | grep -c '^page-')" -ne 20 ]; then
	echo "there are no twenty namespaces page-1, page-2, ... yet: run the last block of step 4"
	exit 1
fi
echo done
