#!/bin/sh
# Step 1: the chart is installed, and the manager knows its region.
cd "$(dirname "$0")/../../.." || exit 1

if [ "$(kubectl get deployment cnat-manager -n cnat-system -o jsonpath='{.metadata.labels.app\.kubernetes\.io/managed-by}' 2>/dev/null)" != Helm ]; then
	echo "Helm has not installed the manager yet: bin/helm install cnat packaging/chart -n cnat-system --set=region=us-east-2 --wait"
	exit 1
fi
if ! grep -q '^cnat_manager_info{.*region="us-east-2"' region.log 2>/dev/null; then
	echo "region.log does not have the metric with the region us-east-2: read the metrics with metrics.sh"
	exit 1
fi
echo done
