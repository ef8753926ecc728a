#!/bin/sh
# Step 3: there is a kubeconfig that leads to a closed port.
cd "$(dirname "$0")/../.." || exit 1

if [ ! -s closed.kubeconfig ]; then
	echo "closed.kubeconfig is not there yet: run the first block of step 3"
	exit 1
fi
if ! ./list >/dev/null 2>&1; then
	echo "list does not reach the cluster; is a fault left? lab heal"
	exit 1
fi
echo done
