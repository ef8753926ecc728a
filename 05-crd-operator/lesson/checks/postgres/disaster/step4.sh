#!/bin/sh
# All disks are gone, and the backup was restored.
cd "$(dirname "$0")/../../../.." || exit 1

if ! grep -q ' lost;' gone.log 2>/dev/null; then
	echo "gone.log does not say yet how many rows are lost: lose all disks while writer runs, and end writer"
	exit 1
fi
if ! grep -q 'Seeded.*of base backup' story.log 2>/dev/null; then
	echo "story.log does not say yet what the database was made of: read the events of the cluster"
	exit 1
fi
echo done
