#!/bin/sh
# Step 6: the version was gone, and a list showed what happened meanwhile; then a watch was resumed.
cd "$(dirname "$0")/../.." || exit 1

if ! grep -q 'too old resource version' gone.log 2>/dev/null; then
	echo "gone.log doesn't show a version that is gone yet: lab expire, while the watches are cut"
	exit 1
fi
for change in "MODIFIED pod bell" "ADDED pod crane" "DELETED pod buoy"; do
	if ! grep -q "^$change" gone.log; then
		echo "gone.log doesn't have \"$change\" yet: change it while the watches are cut"
		exit 1
	fi
done
if [ ! -f raw.log ] || [ "$(grep -c 'watch=true' raw.log)" -lt 2 ]; then
	echo "raw.log doesn't have two watches yet: cut the connection of ./watch -raw, and heal it"
	exit 1
fi
echo done
