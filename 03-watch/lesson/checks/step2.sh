#!/bin/sh
# Step 2: a watch by hand has received a change.
cd "$(dirname "$0")/../.." || exit 1

if ! grep -q '"type":"MODIFIED".*"name":"bell"' events.json 2>/dev/null; then
	echo "events.json has no change to the pod bell yet: open the watch, and label the pod while it is open"
	exit 1
fi
echo done
