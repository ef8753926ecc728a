#!/bin/sh
# Step 4: release.sh and openssl have verified the image, and the SBOM was made a second time.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q '^verified 127.0.0.1:5050/cnat-manager@' verify.log 2>/dev/null; then
	echo "verify.log does not show that the image was verified: run sh release.sh verify"
	exit 1
fi
if ! grep -qx 'Verified OK' verify.log; then
	echo "verify.log does not have the answer of openssl: let it verify bin/payload.sig"
	exit 1
fi
if ! grep -qx 'the SBOM is that of the image' verify.log; then
	echo "verify.log does not show that the SBOM is that of the image: make it again, and compare the two"
	exit 1
fi
echo done
