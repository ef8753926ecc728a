#!/bin/sh
# Step 3: the stock scheduler has placed the burst, most of it on the large node.
cd "$(dirname "$0")/../../.." || exit 1

if ! awk '$2 == "large" && $1 > 6 { found = 1 } END { exit !found }' stock.log 2>/dev/null; then
	echo "stock.log does not show a burst on the large node: run burst.sh with default-scheduler"
	exit 1
fi
echo done
