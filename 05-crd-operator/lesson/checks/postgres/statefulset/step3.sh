#!/bin/sh
# A disk is gone, and with it all rows.
cd "$(dirname "$0")/../../../.." || exit 1

if ! grep -q 'rows that were acknowledged are not there' empty.log 2>/dev/null; then
	echo "empty.log does not show lost rows yet: delete the disk and the pod of db-0 while writer runs, and end writer"
	exit 1
fi
echo done
