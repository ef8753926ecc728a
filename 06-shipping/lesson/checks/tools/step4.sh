#!/bin/sh
# Step 4: a role that is too wide and one that is missing were found.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q 'secrets *never in full' wide.log 2>/dev/null; then
	echo "wide.log does not show the role wide: run permissions with bin/cluster.yaml and bin/wide.yaml"
	exit 1
fi
if ! grep -q 'leases.*which is not among these rules' wide.log; then
	echo "wide.log does not miss the right to Leases: give permissions the ClusterRoles only"
	exit 1
fi
echo done
