#!/bin/sh
# Step 1: both programs printed the total of three pods.
cd "$(dirname "$0")/../../.." || exit 1

for log in podruntime-first.log podruntime-grown.log; do
	if ! grep -qs '^Pods in namespace harbour have been running for' $log; then
		echo "$log has no line about harbour yet: apply lesson/demo.yaml, and run bin/first and bin/podruntime"
		exit 1
	fi
done
echo done
