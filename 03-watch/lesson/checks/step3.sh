#!/bin/sh
# Step 3: each fault has shown.
cd "$(dirname "$0")/../.." || exit 1

if [ "$(grep -c 'an event without a pod' spin.log 2>/dev/null)" -lt 1000 ] 2>/dev/null || [ ! -f spin.log ]; then
	echo "spin.log does not show the closed channel yet: kill the API server while ./naive runs"
	exit 1
fi
if [ "$(grep -c '^ADDED pod bell' lost.log 2>/dev/null)" != 2 ] || ! grep -q 'connection refused' lost.log; then
	echo "lost.log does not have bell ADDED twice yet: take the connection away from the repaired ./naive, and give it back"
	exit 1
fi
if grep -q '^DELETED pod buoy' lost.log; then
	echo "lost.log has buoy DELETED: delete it while the connection is away"
	exit 1
fi
if ! grep -q 'without a pod: ERROR' error.log 2>/dev/null; then
	echo "error.log has no ERROR yet: run ./naive from version 1"
	exit 1
fi
echo done
