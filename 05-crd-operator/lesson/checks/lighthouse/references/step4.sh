#!/bin/sh
# Step 4: the token was replaced, and the operator took the new one without a restart.
cd "$(dirname "$0")/../../../.." || exit 1

if ! grep -q '^eddystone=long' rotated.log 2>/dev/null; then
	echo "rotated.log doesn't show that eddystone flashes long in the Light List: put the new token into its Secret, and print the list"
	exit 1
fi
echo done
