#!/bin/sh
# Step 4: the promises of the queue were tested, and they hold.
cd "$(dirname "$0")/../.." || exit 1

if [ "$(grep -c '^--- PASS' controller.log 2>/dev/null)" -lt 12 ] 2>/dev/null || [ ! -f controller.log ]; then
	echo "controller.log does not show twelve tests that pass yet: go test -v ./controller > controller.log"
	exit 1
fi
if grep -q '^--- FAIL' controller.log; then
	echo "a test in controller.log failed: put controller/controller.go right, and run them again"
	exit 1
fi
echo done
