#!/bin/sh
# Step 4: one kubeconfig has a token that nobody issued, and the user of the other may list.
cd "$(dirname "$0")/../.." || exit 1

if [ ! -s reader.kubeconfig ]; then
	echo "reader.kubeconfig is not there yet: run the first block of step 4"
	exit 1
fi
if [ ! -s stranger.kubeconfig ]; then
	echo "stranger.kubeconfig is not there yet: run the second block of step 4"
	exit 1
fi
if ! output=$(KUBECONFIG=reader.kubeconfig ./list 2>&1); then
	echo "the service account reader may not list yet: $output"
	exit 1
fi
echo done
