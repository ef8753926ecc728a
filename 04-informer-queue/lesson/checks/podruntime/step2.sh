#!/bin/sh
# Step 2: first/ counts a pod that has ended for longer than it ran.
cd "$(dirname "$0")/../../.." || exit 1

minutes() { sed -n 's/^Pods in namespace default have been running for \(.*\) minutes\.$/\1/p' "podruntime-ended-$1.log" 2>/dev/null | tail -n 1; }
first=$(minutes first) grown=$(minutes podruntime)
if [ -z "$first" ] || [ -z "$grown" ]; then
	echo "podruntime-ended-first.log or podruntime-ended-podruntime.log has no line yet: run the pod tide, and then both programs"
	exit 1
fi
if ! awk "BEGIN { exit !($grown < $first) }"; then
	echo "both programs printed the same time: wait until the pod has ended, and five seconds more"
	exit 1
fi
echo done
