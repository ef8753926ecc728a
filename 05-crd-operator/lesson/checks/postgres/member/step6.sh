#!/bin/sh
# The disk was looked at.
cd "$(dirname "$0")/../../../.." || exit 1

if ! grep -q '^database$' disk.log 2>/dev/null; then
	echo "disk.log does not show the folder database yet: list the volume of one-1"
	exit 1
fi
echo done
