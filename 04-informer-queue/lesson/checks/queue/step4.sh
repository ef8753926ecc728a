#!/bin/sh
# Step 4: the second outage was counted with Forget and without.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q "^kept: [0-9]* attempts" outages.log 2>/dev/null || ! grep -q "^forgetless: [0-9]* attempts" outages.log; then
	echo "outages.log doesn't show both programs yet: count the attempts of ./bin/kept and ./bin/forgetless"
	exit 1
fi
echo done
