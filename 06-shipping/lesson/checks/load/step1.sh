#!/bin/sh
# Step 1: the manager runs, and four of its metrics were read.
cd "$(dirname "$0")/../../.." || exit 1

if [ "$(kubectl get deployment cnat-manager -n cnat-system -o jsonpath='{.status.availableReplicas}' 2>/dev/null)" != 1 ]; then
	echo "the Deployment cnat-manager has no available replica yet: install it, then kubectl describe pods -n cnat-system"
	exit 1
fi
if [ "$(grep -c '^[a-z_]* [1-9]' footprint.log 2>/dev/null)" != 4 ]; then
	echo "footprint.log does not have four metrics: sh metrics.sh, with the grep of this step"
	exit 1
fi
echo done
