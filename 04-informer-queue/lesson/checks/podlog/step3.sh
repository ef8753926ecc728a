#!/bin/sh
# Step 3: podlog got a tombstone and a name that came back; the careless handler panicked.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q "^panic: interface conversion: .*DeletedFinalStateUnknown" careless.log 2>/dev/null; then
	echo "careless.log shows no panic yet: delete the pod buoy while the watches are cut, then lab expire"
	exit 1
fi
if ! grep -q "^onDelete: default/buoy (tombstone" tombstone.log 2>/dev/null; then
	echo "tombstone.log shows no tombstone of buoy yet: delete it while the watches are cut, then lab expire"
	exit 1
fi
if ! grep -q "^onUpdate: default/bell (another pod of the same name)" tombstone.log; then
	echo "tombstone.log does not show another pod bell yet: delete it and run it again while the watches are cut"
	exit 1
fi
echo done
