#!/bin/sh
# Step 3: since its creation, the pod has run for longer than since its start.
cd "$(dirname "$0")/../../.." || exit 1

minutes() { sed -n 's/^Pods in namespace default have been running for \(.*\) minutes\.$/\1/p' "podruntime-$1.log" 2>/dev/null | tail -n 1; }
start=$(minutes start) creation=$(minutes creation)
if [ -z "$start" ] || [ -z "$creation" ]; then
	echo "podruntime-start.log or podruntime-creation.log has no line yet: run podruntime with --since=start and with --since=creation"
	exit 1
fi
if ! awk "BEGIN { exit !($start < $creation) }"; then
	echo "podruntime-start.log has as much time as podruntime-creation.log: wait until the pod has ended, and a little longer"
	exit 1
fi
echo done
