#!/bin/sh
# Step 7: the API server has refused an image by its tag.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q "pinned-images' denied request" policy.log 2>/dev/null; then
	echo "policy.log does not show that a tag is denied: apply bin/pinned.yaml, and set the image of the pods"
	exit 1
fi
echo done
