#!/bin/sh
# Step 7: two of the examples have run, and a sync was replayed.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -qs '^quay/web ' observe-services.log; then
	echo "observe-services.log does not have the address of the Service web yet: run observe with observe/examples/record.sh"
	exit 1
fi
if ! kubectl --namespace=quay get resourcequota,limitrange default >/dev/null 2>&1; then
	echo "the namespace quay has no quota, or no LimitRange: run observe with observe/examples/quota.sh"
	exit 1
fi
if [ "$(grep -c ' Sync ended' observe-metrics.log 2>/dev/null)" -lt 2 ]; then
	echo "observe-metrics.log has no second Sync yet: run observe with --resync-period=1s --exit-after=3s"
	exit 1
fi
echo done
