#!/bin/sh
# Step 5: somebody who may read the metrics has read them.
cd "$(dirname "$0")/../.." || exit 1

for metric in cnat_ats cnat_start_lateness_seconds_count settings_drift_repairs_total cnat_manager_info; do
	if ! grep -q "^$metric" metrics.log 2>/dev/null; then
		echo "metrics.log does not have $metric: sh metrics.sh > metrics.log"
		exit 1
	fi
done
echo done
