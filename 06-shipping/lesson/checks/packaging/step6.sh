#!/bin/sh
# Step 6: there is a bundle of v0.6.2, and it grants what role.yaml grants.
cd "$(dirname "$0")/../../.." || exit 1

csv=bin/cnat.v0.6.2/manifests/cnat.clusterserviceversion.yaml
if ! grep -q '^  name: cnat.v0.6.2$' $csv 2>/dev/null || ! grep -q '^  replaces: cnat.v0.6.1$' $csv; then
	echo "bin/cnat.v0.6.2 is not the bundle that replaces v0.6.1: copy packaging/bundle/v0.6.1, and change its versions with sed"
	exit 1
fi
if [ ! -s granted.log ] || ! cmp -s role.log granted.log; then
	echo "role.log and granted.log are not the same rules: write both with awk, and compare them"
	exit 1
fi
echo done
