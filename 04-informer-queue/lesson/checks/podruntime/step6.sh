#!/bin/sh
# Step 6: the cost of reconciles was read.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -qs '^workqueue_work_duration_seconds_count' podruntime-cost.log; then
	echo "podruntime-cost.log does not show how long reconciles take yet: read /metrics while podruntime runs"
	exit 1
fi
echo done
