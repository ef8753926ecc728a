#!/bin/sh
# Step 2: fault 3 has shown.
cd "$(dirname "$0")/../.." || exit 1

if [ ! -f spin.log ] || [ "$(grep -c 'an event without a pod' spin.log)" -lt 1000 ]; then
	echo "spin.log doesn't show the closed channel yet: cut the connection of ./naive"
	exit 1
fi
echo done
