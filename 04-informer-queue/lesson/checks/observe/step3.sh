#!/bin/sh
# Step 3: observe printed a Service that was added, one that changed and one that was deleted.
cd "$(dirname "$0")/../../.." || exit 1

if [ ! -x bin/observe ]; then
	echo "observe is not built yet: go -C observe build -o ../bin/ ."
	exit 1
fi
for event in "Sync .*quay web" "Added .*quay shop" "Updated .*quay web side" "Deleted .*quay shop"; do
	if ! grep -q "^# [^ ]* $event" observe-changes.log 2>/dev/null; then
		echo "observe-changes.log has no line like \"# TIME $event\" yet: make the change while observe runs"
		exit 1
	fi
done
echo done
