#!/bin/sh
# Step 4: faults 3 and 4 have shown.
cd "$(dirname "$0")/../.." || exit 1

if [ ! -f spin.log ] || [ "$(grep -c 'an event without a pod' spin.log)" -lt 1000 ]; then
	echo "spin.log does not show the closed channel yet: take the connection away from ./naive"
	exit 1
fi
if ! grep -q 'without a pod: ERROR' error.log 2>/dev/null; then
	echo "error.log has no ERROR yet: kill the API server, and run attempt/naive from version 1"
	exit 1
fi
echo done
