#!/bin/sh
# Step 1: first/ has printed a line for each event, without a LIST request.
cd "$(dirname "$0")/../../.." || exit 1

if [ ! -x bin/first ]; then
	echo "bin/first isn't built yet: go build -o bin/ ./first"
	exit 1
fi
if ! grep -q "^[0-9]* lines, [0-9]* LIST requests" count.log 2>/dev/null; then
	echo "count.log doesn't say how many LIST requests were sent yet: count them while ./bin/first prints five lines"
	exit 1
fi
if ! grep -q " lines, 0 LIST requests" count.log; then
	echo "something else has listed pods meanwhile: count again"
	exit 1
fi
echo done
