#!/bin/sh
# Step 6: watch pods lost its connection, and lost nothing else.
cd "$(dirname "$0")/../.." || exit 1

if ! grep -q 'going on from version' pods.log 2>/dev/null; then
	echo "pods.log does not show a lost connection yet: take it away from watch pods, and give it back"
	exit 1
fi
if ! grep -q '^DELETED pod buoy' pods.log; then
	echo "pods.log does not have buoy DELETED: delete it while the connection is away, and give the program time"
	exit 1
fi
if [ "$(grep -c '^ADDED pod bell' pods.log)" != 1 ]; then
	echo "pods.log has bell ADDED more than once: remove the file and do the step again"
	exit 1
fi
echo done
