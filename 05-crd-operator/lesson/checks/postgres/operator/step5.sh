#!/bin/sh
# The agent of the primary was frozen, and no row is lost.
cd "$(dirname "$0")/../../../.." || exit 1

if [ "$(sed -n 's/.*on timeline \([0-9]*\).*/\1/p' frozen.log 2>/dev/null | sort -u | wc -l)" -lt 2 ] || ! grep -q ' 0 lost' frozen.log; then
	echo "frozen.log does not show two timelines and 0 lost yet: stop the agent of the primary with SIGSTOP while writer runs, and end writer"
	exit 1
fi
echo done
