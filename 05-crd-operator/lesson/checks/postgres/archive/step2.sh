#!/bin/sh
# The disk of the backups was looked at.
cd "$(dirname "$0")/../../../.." || exit 1

if ! grep -q '^wal/.*gz' files.log 2>/dev/null; then
	echo "files.log does not list the log yet: look into the volume of demo-backup"
	exit 1
fi
echo done
