#!/bin/sh
# Step 6: a bundle was made that is the committed one and grants what role.yaml grants.
cd "$(dirname "$0")/../../.." || exit 1

if ! diff -r bin/cnat.v0.6.1 packaging/bundle/v0.6.1 >/dev/null 2>&1; then
	echo "bin/cnat.v0.6.1 is not the bundle of v0.6.1: make it with bin/bundle"
	exit 1
fi
if [ ! -s granted.log ] || ! cmp -s role.log granted.log; then
	echo "role.log and granted.log are not the same rules: write both with awk, and compare them"
	exit 1
fi
echo done
