#!/bin/sh
# Step 3: podlog was handed a tombstone, and a name that came back.
cd "$(dirname "$0")/../.." || exit 1

if ! grep -q '^onDelete: default/buoy (tombstone' podlog-tombstone.log 2>/dev/null; then
	echo "podlog-tombstone.log shows no tombstone of buoy yet: delete it while the connection is away, and restart the API server"
	exit 1
fi
if ! grep -q '^onUpdate: default/bell (another pod of the same name)' podlog-tombstone.log; then
	echo "podlog-tombstone.log does not show another pod bell yet: delete it and run it again while the connection is away"
	exit 1
fi
echo done
