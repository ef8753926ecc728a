#!/bin/sh
# Step 3: a hot loop was counted.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q "^hot: [0-9]* attempts" attempts.log 2>/dev/null || ! grep -q "^first: [0-9]* attempts" attempts.log; then
	echo "attempts.log doesn't show both programs yet: count the attempts of ./bin/hot and ./bin/first"
	exit 1
fi
echo done
