#!/bin/sh
# Step 4: the image is built, and the node has it.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q '^loaded .*kube-scheduler:mine' loaded.log 2>/dev/null; then
	echo "loaded.log does not show kube-scheduler:mine: build it with controlplane/image, and load it"
	exit 1
fi
echo done
