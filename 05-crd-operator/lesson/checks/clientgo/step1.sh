#!/bin/sh
# What the queue has more than that of stage 4 was seen, and the clock was tested.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q 'EnqueueAt' queue.log 2>/dev/null; then
	echo "queue.log does not show EnqueueAt yet: look for the clock in clientgo/controller/controller.go"
	exit 1
fi
if ! grep -q '^--- PASS: TestAKeyComesByTheWallClock' wallclock.log 2>/dev/null; then
	echo "the tests of the clock have not passed yet: go test -v -run TestAKeyComesByTheWallClock ./wallclock > wallclock.log"
	exit 1
fi
echo done
