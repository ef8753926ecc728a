#!/bin/sh
# Step 3: a new leader has reconciled 1000 Ats, and then did nothing.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q '^[0-9]* reconciles' waiting.log 2>/dev/null; then
	echo "waiting.log does not show another leader: create the Ats, restart the manager, and read its metrics"
	exit 1
fi
if ! awk '{ requests[NR] = $3 } END { exit !(NR == 2 && requests[2] - requests[1] < 100) }' waiting.log; then
	echo "waiting.log does not show two readings, or the manager makes requests although nothing is due: read the metrics twice"
	exit 1
fi
echo done
