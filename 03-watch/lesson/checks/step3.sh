#!/bin/sh
# Step 3: each fault has shown.
cd "$(dirname "$0")/../.." || exit 1

if [ "$(grep -c 'the channel is closed' spin.log 2>/dev/null)" -lt 1000 ] 2>/dev/null || [ ! -f spin.log ]; then
	echo "spin.log does not show the closed channel yet: kill the API server while watch naive runs"
	exit 1
fi
if [ "$(grep -c '^ADDED pod bell' lost.log 2>/dev/null)" != 2 ] || ! grep -q 'connection refused' lost.log; then
	echo "lost.log does not tell of bell twice yet: take the connection away from watch naive --reconnect, and give it back"
	exit 1
fi
if grep -q '^DELETED pod buoy' lost.log; then
	echo "lost.log tells that buoy was deleted: delete it while the connection is away"
	exit 1
fi
if ! grep -q '^ERROR' error.log 2>/dev/null; then
	echo "error.log has no ERROR yet: run watch naive --resource-version=1"
	exit 1
fi
echo done
