#!/bin/sh
# Step 3: podruntime printed a new pod, and fewer lines than first/.
cd "$(dirname "$0")/../../.." || exit 1

lines() { grep -cs '^Pods in namespace harbour have been running for' "podruntime-label-$1.log"; }
if [ ! -f podruntime-label-podruntime.log ] || [ "$(lines podruntime)" -lt 2 ]; then
	echo "podruntime-label-podruntime.log has no second line yet: label the pods and scale the cranes while podruntime runs"
	exit 1
fi
if [ "$(lines first)" -le "$(lines podruntime)" ]; then
	echo "first printed no more lines than podruntime: label the pods while both run"
	exit 1
fi
echo done
