#!/bin/sh
# Step 4: the release was upgraded with the chart in the registry.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q '^Pulled: 127.0.0.1:5051/charts/cnat:0.6.1' upgrade.log 2>/dev/null; then
	echo "upgrade.log does not show that the chart came from the registry: push it, and upgrade to oci://127.0.0.1:5051/charts/cnat"
	exit 1
fi
if ! grep -q 'deployed.*cnat-0.6.1' list.log 2>/dev/null; then
	echo "list.log does not show the chart cnat-0.6.1: bin/helm list -n cnat-system"
	exit 1
fi
echo done
