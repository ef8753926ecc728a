#!/bin/sh
# Step 3: a resync has reported a pod that didn't change, and nothing was listed for it.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q "^updated bell" resync.log 2>/dev/null; then
	echo "resync.log shows no resync of bell yet: let ./bin/resyncs run for longer than three seconds"
	exit 1
fi
if ! grep -q "^0 LIST requests" resync.log; then
	echo "resync.log doesn't say that no LIST was sent: count them again, in case something else listed pods"
	exit 1
fi
echo done
