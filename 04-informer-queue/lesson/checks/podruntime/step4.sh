#!/bin/sh
# Step 4: the metric was read three times, and has grown by itself.
cd "$(dirname "$0")/../../.." || exit 1

values=$(sed -n 's/^pod_runtime_seconds{namespace="harbour"} //p' podruntime-metrics.log 2>/dev/null)
if [ "$(echo "$values" | sort -u | wc -l)" -lt 3 ]; then
	echo "podruntime-metrics.log does not show three values for harbour yet: read /metrics three times while podruntime runs"
	exit 1
fi
echo done
