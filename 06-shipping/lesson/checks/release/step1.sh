#!/bin/sh
# Step 1: the release was built in two clones, and both builds are the same.
cd "$(dirname "$0")/../../.." || exit 1

if ! cmp -s ../bin/.clone/bin/cnat-manager.tar ../bin/.again/bin/cnat-manager.tar && ! [ -f attack.log ]; then
	echo "there are no two archives that are the same: build one in ../bin/.clone, and one in ../bin/.again"
	exit 1
fi
echo done
