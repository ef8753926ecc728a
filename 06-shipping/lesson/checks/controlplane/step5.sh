#!/bin/sh
# Step 5: the changed scheduler has placed the burst, as many pods on each of the four nodes.
cd "$(dirname "$0")/../../.." || exit 1

if [ "$(awk '$1 == 3' spread.log 2>/dev/null | wc -l)" -ne 4 ]; then
	echo "spread.log does not show three pods on each node: put kube-scheduler:mine in place, and start a burst"
	exit 1
fi
echo done
