#!/bin/sh
# Step 1: keys were added while a worker had theirs, and one more reconcile did for all.
cd "$(dirname "$0")/../../.." || exit 1

if [ ! -f slow.log ] || [ "$(grep -c "^added" slow.log)" -lt 5 ]; then
	echo "slow.log doesn't have five added keys yet: label bell four times while ./bin/slow is held"
	exit 1
fi
if [ "$(grep -c "^working" slow.log)" -ne 2 ]; then
	echo "slow.log doesn't show two reconciles: remove the file hold only after the last label, and wait"
	exit 1
fi
echo done
