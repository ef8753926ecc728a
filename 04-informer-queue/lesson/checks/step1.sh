#!/bin/sh
# Step 1: the programs are built, and podlog has logged a pod from its first day to
# its last.
cd "$(dirname "$0")/../.." || exit 1

if [ ! -x bin/podlog ]; then
	echo "bin/podlog is not built yet: go build -o bin/ ./cmd/..."
	exit 1
fi
if ! grep -q '^# the cache has synced' podlog.log 2>/dev/null; then
	echo "podlog.log does not say that the cache has synced: run podlog"
	exit 1
fi
for line in "onAdd: default/buoy" "onUpdate: default/buoy" "onDelete: default/buoy"; do
	if ! grep -q "^$line" podlog.log; then
		echo "podlog.log has no line \"$line\" yet: run the pod buoy, and delete it, while podlog runs"
		exit 1
	fi
done
echo done
