#!/bin/sh
# Step 5: three attacks were seen, and the release is verified again.
cd "$(dirname "$0")/../../.." || exit 1

for sentence in 'has no signature' 'has a signature, but not one of this image by this key' 'reading the SBOM'; do
	if ! grep -q "$sentence" attack.log 2>/dev/null; then
		echo "attack.log does not have \"$sentence\": make the three attacks, and verify after each"
		exit 1
	fi
done
if ! grep -q "^verified $(cat push.log)" attack.log; then
	echo "attack.log does not show that the release is verified again: push it once more, and verify it"
	exit 1
fi
echo done
