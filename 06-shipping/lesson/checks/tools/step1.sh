#!/bin/sh
# Step 1: the image was built twice and is the same, and that of a changed clone is not.
cd "$(dirname "$0")/../../.." || exit 1

if ! cmp -s ../bin/cnat-manager.tar ../bin/.clone/bin/cnat-manager.tar; then
	echo "there are no two archives that are the same: build one with bin/image, and one in ../bin/.clone"
	exit 1
fi
if ! grep -q 'revision [0-9a-f]*-dirty' changed.log 2>/dev/null || cmp -s ../bin/cnat-manager.tar ../bin/.clone/bin/changed.tar; then
	echo "there is no archive of a changed clone: change version.go in ../bin/.clone, and build changed.tar there"
	exit 1
fi
echo done
