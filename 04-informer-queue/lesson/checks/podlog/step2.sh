#!/bin/sh
# Step 2: podlog has reported a pod from its first day to its last, and a resync.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q "^# the cache has synced" podlog.log 2>/dev/null; then
	echo "podlog.log does not say that the cache has synced: run ./bin/podlog --resync=3s"
	exit 1
fi
for line in "onAdd: default/buoy" "onUpdate: default/buoy" "onDelete: default/buoy"; do
	if ! grep -q "^$line" podlog.log; then
		echo "podlog.log has no line \"$line\" yet: run the pod buoy, and delete it, while podlog runs"
		exit 1
	fi
done
if ! grep -q "^onUpdate: default/bell (resync: still version" podlog.log; then
	echo "podlog.log shows no resync of bell yet: let podlog run for longer than the resync period"
	exit 1
fi
echo done
