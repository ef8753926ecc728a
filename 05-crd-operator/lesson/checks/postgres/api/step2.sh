#!/bin/sh
# A watch from the version of a list has brought two changes.
cd "$(dirname "$0")/../../../.." || exit 1

for event in MODIFIED DELETED; do
	if ! grep -q "\"type\":\"$event\"" watch.log 2>/dev/null; then
		echo "watch.log has no $event yet: list, change demo and delete it, and watch from the version of the list"
		exit 1
	fi
done
echo done
