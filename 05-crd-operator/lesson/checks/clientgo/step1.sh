#!/bin/sh
# The clock of the queue was seen, and tested.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q 'AddAfter(key, d.Wake' queue.log 2>/dev/null; then
	echo "queue.log does not show AddAfter yet: look for the clock in clientgo/controller.go and clientgo/reconcile.go"
	exit 1
fi
if ! grep -q '^--- PASS: TestAKeyComesByTheWallClock' wallclock.log 2>/dev/null; then
	echo "the tests of the clock have not passed yet: go test -v -run TestAKeyComesByTheWallClock ./wallclock > wallclock.log"
	exit 1
fi
echo done
