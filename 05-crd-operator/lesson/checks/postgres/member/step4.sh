#!/bin/sh
# PostgreSQL was killed, and no row is lost.
cd "$(dirname "$0")/../../../.." || exit 1

if [ "$(sed -n 's/.*on timeline \([0-9]*\).*/\1/p' writer.log 2>/dev/null | sort -u | wc -l)" -lt 2 ] || ! grep -q ' 0 lost' writer.log; then
	echo "writer.log does not show two timelines and 0 lost yet: kill the PostgreSQL of one-1 while writer runs, and end writer"
	exit 1
fi
echo done
