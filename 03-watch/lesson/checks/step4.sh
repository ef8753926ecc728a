#!/bin/sh
# Step 4: fault 4 has shown.
cd "$(dirname "$0")/../.." || exit 1

if ! grep -q 'without a pod: ERROR' error.log 2>/dev/null; then
	echo "error.log has no ERROR yet: lab expire, and run attempt/naive from version 1"
	exit 1
fi
echo done
