#!/bin/sh
# Step 4: a command that failed twice was tried a third time.
cd "$(dirname "$0")/../../.." || exit 1

attempts=$(grep -c attempt observe-attempts.log 2>/dev/null)
if [ "${attempts:-0}" -lt 3 ]; then
	echo "there were ${attempts:-0} attempts, and the third is the first that succeeds: run observe with the command ./observe-fails.sh"
	exit 1
fi
echo done
