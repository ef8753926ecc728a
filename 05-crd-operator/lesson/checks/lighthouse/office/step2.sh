#!/bin/sh
# Step 2: the answer was lost, the light was not, and a second POST cost nothing.
cd "$(dirname "$0")/../../../.." || exit 1

if ! grep -q '"registered","token":"two"' lost.log 2>/dev/null; then
	echo "lost.log does not show the light two: set the fault lose, and register two"
	exit 1
fi
if [ "$(tr -d ' ' <bills.log 2>/dev/null)" != 3 ]; then
	echo "bills.log does not count three bills: send the POST of two again, before the office has forgotten it and afterwards"
	exit 1
fi
echo done
