#!/bin/sh
# Step 2: at 20 Ats a second, each had its pod.
cd "$(dirname "$0")/../../.." || exit 1

if ! awk '$1 == 20 && $2 > 50 { found = 1 } END { exit !found }' ramp.log 2>/dev/null; then
	echo "ramp.log has no row for 20 Ats a second: sh load.sh ramp --rates=5,20 --each=5s | tee ramp.log"
	exit 1
fi
echo done
