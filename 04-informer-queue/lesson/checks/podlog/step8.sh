#!/bin/sh
# Step 8: a hot loop was counted, and pauses grew without Forget.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q "^hot: [0-9]* attempts" attempts.log 2>/dev/null || ! grep -q "^first: [0-9]* attempts" attempts.log; then
	echo "attempts.log does not show both programs yet: count the attempts of ./bin/hot and ./bin/first"
	exit 1
fi
if ! grep -q "^default is tried again after" forgets.log 2>/dev/null; then
	echo "forgets.log shows no second attempt yet: build flaky.txt into first/, and run ./bin/forgets"
	exit 1
fi
if [ "$(grep -cs "^default is tried again after" remembers.log)" -lt 9 ] 2>/dev/null || [ ! -f remembers.log ]; then
	echo "remembers.log does not show nine second attempts yet: run ./bin/remembers, and label the pod bell eight times"
	exit 1
fi
echo done
