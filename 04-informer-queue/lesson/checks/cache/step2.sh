#!/bin/sh
# Step 2: report got a tombstone and a name that came back; the careless handler panicked.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q "^panic: interface conversion: .*DeletedFinalStateUnknown" careless.log 2>/dev/null; then
	echo "careless.log shows no panic yet: delete the pod buoy while the watches are cut, then lab expire"
	exit 1
fi
if ! grep -q "^deleted default/buoy: cache.DeletedFinalStateUnknown" report.log 2>/dev/null; then
	echo "report.log shows no tombstone of buoy yet: delete it while the watches are cut, then lab expire"
	exit 1
fi
if ! grep -q "^updated default/bell" report.log; then
	echo "report.log doesn't show another pod bell yet: delete it and run it again while the watches are cut"
	exit 1
fi
echo done
