#!/bin/sh
# Step 2: podlog got updates of what had not changed, and of what had.
cd "$(dirname "$0")/../.." || exit 1

if ! grep -q '^onUpdate: default/bell (resync: still version' podlog-resync.log 2>/dev/null; then
	echo "podlog-resync.log shows no resync of bell yet: run podlog with --resync=2s for longer than that"
	exit 1
fi
if ! grep -qx 'onUpdate: default/bell' podlog-resync.log; then
	echo "podlog-resync.log shows no change of bell yet: label the pod while podlog runs"
	exit 1
fi
echo done
