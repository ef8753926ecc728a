#!/bin/sh
# Step 3: the SBOM, the provenance and the signature belong to the image.
cd "$(dirname "$0")/../../.." || exit 1

if [ ! -f bin/keys/private.pem ]; then
	echo "bin/keys/private.pem is missing: make a key pair with openssl"
	exit 1
fi
for kind in vnd.cyclonedx vnd.dev.cosign.artifact.att vnd.dev.cosign.artifact.sig; do
	if ! grep -q "$kind" referrers.log 2>/dev/null; then
		echo "referrers.log does not have $kind: sign the image, and list its referrers"
		exit 1
	fi
done
echo done
