#!/bin/sh
# Step 2: the image is in the registry, by its tag and its digest.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q '^127.0.0.1:5050/cnat-manager@sha256:' push.log 2>/dev/null; then
	echo "push.log does not have the name of the image by digest: push it with bin/oras, and write its name"
	exit 1
fi
if ! curl --silent --fail "http://127.0.0.1:5050/v2/cnat-manager/manifests/$(sed 's/.*@//' push.log)" >/dev/null; then
	echo "the image is not in the registry: start bin/registry in the background, and push it"
	exit 1
fi
echo done
