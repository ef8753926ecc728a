#!/bin/sh
# The status said why nothing was archived, and then all of it was.
cd "$(dirname "$0")/../../../.." || exit 1

if ! grep -q 'NotArchived' archive.log 2>/dev/null; then
	echo "archive.log does not show NotArchived yet: take away the right to write to the archive"
	exit 1
fi
if ! grep -q '^BackedUp=True' recovered.log 2>/dev/null; then
	echo "recovered.log does not show BackedUp=True yet: give the right back, and wait"
	exit 1
fi
echo done
