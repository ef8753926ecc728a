#!/bin/sh
# The disks were nearly full, and are larger now.
cd "$(dirname "$0")/../../../.." || exit 1

if ! grep -q '^nearly full' full.log 2>/dev/null; then
	echo "full.log does not show nearly full yet: fill the table ballast"
	exit 1
fi
if ! grep -q '^CREATE TABLE' space.log 2>/dev/null; then
	echo "space.log does not show that a table was made yet: raise spec.storage"
	exit 1
fi
echo done
