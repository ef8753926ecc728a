#!/bin/sh
# Step 5: podruntime retried a line that could not be written.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -qs 'failures=5' podruntime-failed.log; then
	echo "podruntime-failed.log does not show five failures yet: run podruntime with an output that cannot be written"
	exit 1
fi
echo done
