#!/bin/sh
# Step 4: the profiles were taken from the hot operator.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -qE '^Duration: (4[.]9|[5-9]|[1-9][0-9])' cpu.log 2>/dev/null; then
	echo "cpu.log shows no profile of five seconds: take a CPU profile while bin/hot runs"
	exit 1
fi
if ! grep -q processNextWorkItem goroutines.log 2>/dev/null; then
	echo "goroutines.log does not show the workers: take a goroutine profile while bin/hot runs"
	exit 1
fi
echo done
