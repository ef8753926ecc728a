#!/bin/sh
# Step 6: the second build changed nothing when it was loaded, and something when the container was stopped.
cd "$(dirname "$0")/../../.." || exit 1

if [ "$(awk '$1 == 3' same.log 2>/dev/null | wc -l)" -ne 4 ]; then
	echo "same.log does not show the old decision: load the second build, and start a burst"
	exit 1
fi
if [ "$(awk '$1 == 12' packed.log 2>/dev/null | wc -l)" -ne 1 ]; then
	echo "packed.log does not show the new decision: lab crictl stop kube-scheduler, and start a burst"
	exit 1
fi
echo done
