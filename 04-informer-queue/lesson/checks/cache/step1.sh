#!/bin/sh
# Step 1: a frozen cache kept a pod that was gone.
cd "$(dirname "$0")/../../.." || exit 1

if [ ! -f stale.log ] || [ "$(grep -c "^2 pods" stale.log)" -lt 3 ]; then
	echo "stale.log doesn't show the stale cache yet: delete buoy while the events are frozen, and let ./bin/counts print"
	exit 1
fi
if ! tail -n 1 stale.log | grep -q "^1 pods"; then
	echo "stale.log doesn't end with one pod yet: lab heal"
	exit 1
fi
echo done
