#!/bin/sh
# Step 2: the informer has reported a pod from its first day to its last.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q "^added bell" report.log 2>/dev/null; then
	echo "report.log doesn't show that bell was added yet: run ./bin/report"
	exit 1
fi
if ! grep -q "^updated buoy" report.log || ! grep -q "^deleted buoy" report.log; then
	echo "report.log doesn't show all of buoy's life yet: run the pod, and delete it, while ./bin/report runs"
	exit 1
fi
echo done
