#!/bin/sh
# Step 3: faults 1 and 2 have shown.
cd "$(dirname "$0")/../.." || exit 1

if [ "$(grep -c '^ADDED pod bell' lost.log 2>/dev/null)" != 2 ]; then
	echo "lost.log doesn't have bell ADDED twice yet: cut the connection of attempt/naive, and heal it"
	exit 1
fi
if grep -q '^DELETED pod buoy' lost.log; then
	echo "lost.log has buoy DELETED: delete it while the connection is cut"
	exit 1
fi
if [ "$(grep -c '^error: watching the pods' lost.log)" -lt 100 ]; then
	echo "lost.log doesn't have a hundred failures yet: delete buoy while the connection is cut"
	exit 1
fi
echo done
