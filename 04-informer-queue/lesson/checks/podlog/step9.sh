#!/bin/sh
# Step 9: the pauses of the finished program grew, and the promises of the queue hold.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q "failures=5" pauses.log 2>/dev/null; then
	echo "pauses.log does not show five failures yet: run ./bin/podruntime with an output that cannot be written"
	exit 1
fi
if [ "$(grep -c "^--- PASS" controller.log 2>/dev/null)" -lt 12 ] 2>/dev/null || [ ! -f controller.log ]; then
	echo "controller.log does not show twelve tests that pass yet: go test -v ./controller > controller.log"
	exit 1
fi
if grep -q "^--- FAIL" controller.log; then
	echo "a test in controller.log failed: put controller/controller.go right, and run them again"
	exit 1
fi
echo done
