#!/bin/sh
# Step 2: first/ printed lines about labels, counted a pod that had ended, and was stale.
cd "$(dirname "$0")/../../.." || exit 1

lines() { grep -cs "^Pods in namespace $2 have been running for" "podruntime-$1.log"; }
if [ "$(lines label harbour)" -lt 2 ] 2>/dev/null || [ ! -f podruntime-label.log ]; then
	echo "podruntime-label.log has no line about a label yet: label the pods while first runs"
	exit 1
fi
minutes=$(sed -n 's/^Pods in namespace default have been running for \(.*\) minutes\.$/\1/p' podruntime-ended.log 2>/dev/null | tail -n 1)
if ! awk "BEGIN { exit !(${minutes:-0} > 0.1) }"; then
	echo "podruntime-ended.log does not show that first counts a pod that has ended: run the pod tide, wait until it has ended and five seconds more, and run first"
	exit 1
fi
if [ "$(lines stale harbour)" -lt 2 ] 2>/dev/null || [ ! -f podruntime-stale.log ]; then
	echo "podruntime-stale.log has no second line yet: label the pods ten seconds after the first"
	exit 1
fi
echo done
