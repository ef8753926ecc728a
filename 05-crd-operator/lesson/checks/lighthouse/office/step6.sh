#!/bin/sh
# Step 6: the office was down, and the entry is right again.
cd "$(dirname "$0")/../../../.." || exit 1

if ! grep -q '^Ready ' down.log 2>/dev/null; then
	echo "down.log does not show what the status said while the office was down"
	exit 1
fi
if ! grep -q '"position":"50.31N 4.22W","character":"short short"' drift.log 2>/dev/null; then
	echo "drift.log does not show the entry as the spec wants it: open the office again, and wait until eddystone is Ready"
	exit 1
fi
echo done
