#!/bin/sh
# The disk of the primary of a PostgresCluster is gone, and no row is lost.
cd "$(dirname "$0")/../../../.." || exit 1

if [ "$(sed -n 's/.*on timeline \([0-9]*\).*/\1/p' replaced.log 2>/dev/null | sort -u | wc -l)" -lt 2 ] || ! grep -q ' 0 lost' replaced.log; then
	echo "replaced.log does not show two timelines and 0 lost yet: delete the disk and the pod of the primary while writer runs, and end writer"
	exit 1
fi
echo done
