#!/bin/sh
# A member that was wanted is the primary.
cd "$(dirname "$0")/../../../.." || exit 1

if [ "$(sed -n 's/.*on timeline \([0-9]*\).*/\1/p' switchover.log 2>/dev/null | sort -u | wc -l)" -lt 2 ] || ! grep -q ' 0 lost' switchover.log; then
	echo "switchover.log does not show two timelines and 0 lost yet: set spec.primary while writer runs, and end writer"
	exit 1
fi
echo done
