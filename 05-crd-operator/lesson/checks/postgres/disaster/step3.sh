#!/bin/sh
# A disk without its label and its owner was found, and no row is lost.
cd "$(dirname "$0")/../../../.." || exit 1

if ! grep -q 'disks that may be' strays.log 2>/dev/null; then
	echo "strays.log does not name the disk yet: take away the label and the owner of the disk of the standby, and lose all others"
	exit 1
fi
if ! grep -q ' 0 lost' left.log 2>/dev/null; then
	echo "left.log does not end with 0 lost yet: give the disk its owner back, and end writer"
	exit 1
fi
echo done
