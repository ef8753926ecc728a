#!/bin/sh
# Step 3: faults 1 and 2 have shown.
cd "$(dirname "$0")/../.." || exit 1

if [ "$(grep -c '^ADDED pod bell' lost.log 2>/dev/null)" != 2 ]; then
	echo "lost.log does not have bell ADDED twice yet: take the connection away from attempt/naive, and give it back"
	exit 1
fi
if grep -q '^DELETED pod buoy' lost.log; then
	echo "lost.log has buoy DELETED: delete it while the connection is away"
	exit 1
fi
if [ ! -f storm.log ] || [ "$(grep -c 'connection refused' storm.log)" -lt 100 ]; then
	echo "storm.log does not have a hundred failures yet: run ./naive for a second without the proxy"
	exit 1
fi
echo done
