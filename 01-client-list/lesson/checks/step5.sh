#!/bin/sh
# Step 5: the service account that was refused may list now.
cd "$(dirname "$0")/../.." || exit 1

if [ ! -f reader.kubeconfig ]; then
	echo "reader.kubeconfig is not there yet: make it with the first commands of step 5"
	exit 1
fi
if ! said=$(./client-list --kubeconfig=reader.kubeconfig 2>&1); then
	echo "the service account reader may not list yet: $said"
	exit 1
fi
echo done
