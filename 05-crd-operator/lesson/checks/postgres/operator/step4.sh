#!/bin/sh
# The primary was killed, and no row is lost.
cd "$(dirname "$0")/../../../.." || exit 1

if [ "$(sed -n 's/.*on timeline \([0-9]*\).*/\1/p' failover.log 2>/dev/null | sort -u | wc -l)" -lt 2 ] || ! grep -q ' 0 lost' failover.log; then
	echo "failover.log does not show two timelines and 0 lost yet: kill the PostgreSQL of the primary while writer runs, and end writer"
	exit 1
fi
if ! grep -q ': Promote, term' timeline.log 2>/dev/null; then
	echo "timeline.log does not show the promotion yet: put events and logs together"
	exit 1
fi
echo done
