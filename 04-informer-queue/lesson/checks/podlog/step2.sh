#!/bin/sh
# Step 2: first/ has printed lines without a LIST request.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q "^[0-9]* lines, [0-9]* LIST requests" count.log 2>/dev/null; then
	echo "count.log does not say how many LIST requests were sent yet: count them while ./bin/first prints five lines"
	exit 1
fi
if ! grep -q " lines, 0 LIST requests" count.log; then
	echo "somebody else has listed pods meanwhile: count again"
	exit 1
fi
echo done
