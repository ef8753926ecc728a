#!/bin/sh
# Step 7: the scheduler did not start, the log said why, and it is back.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q 'unknown flag' broken.log 2>/dev/null; then
	echo "broken.log does not name the flag: break the manifest, and read the log on the node"
	exit 1
fi
if ! grep -q 'condition met' back.log 2>/dev/null; then
	echo "back.log does not show that the pod waiting was placed: move the good manifest back"
	exit 1
fi
echo done
