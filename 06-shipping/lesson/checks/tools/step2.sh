#!/bin/sh
# Step 2: the SBOM has a library for each module in the program, and Go's own.
cd "$(dirname "$0")/../../.." || exit 1

if [ ! -f bin/layout/manager ]; then
	echo "bin/layout/manager is missing: unpack the archive and its layer into bin/layout"
	exit 1
fi
modules=$(go version -m bin/layout/manager | grep -c '	dep	')
if [ "$(cat sbom.log 2>/dev/null)" != $((modules + 1)) ]; then
	echo "sbom.log does not have $((modules + 1)), the number of libraries in the SBOM: count them"
	exit 1
fi
echo done
