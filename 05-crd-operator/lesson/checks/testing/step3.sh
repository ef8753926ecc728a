#!/bin/sh
# Step 3: an hour has passed in fake time, and the missing Wake was found.
cd "$(dirname "$0")/../../.." || exit 1

for test in TestSynctest TestARequestTakesNoFakeTime; do
	if ! grep -q -- "--- PASS: $test" synctest.log 2>/dev/null; then
		echo "synctest.log does not show that $test passes: run it"
		exit 1
	fi
done
if ! grep -q -- '--- FAIL: TestSynctest' nowake.log 2>/dev/null; then
	echo "nowake.log does not show that TestSynctest fails with attempt/nowake.json: run it with -overlay"
	exit 1
fi
echo done
