#!/bin/sh
# Step 6: all metrics of the queries are there, and a renamed one was found.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q '^Every metric' queries.log 2>/dev/null; then
	echo "queries.log does not show that every metric is there: compare with metrics.log"
	exit 1
fi
if ! grep -q '^settings_repairs_total is not exposed' queries.log; then
	echo "queries.log does not show the renamed metric: compare with bin/renamed"
	exit 1
fi
echo done
