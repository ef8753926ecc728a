#!/bin/sh
# The pod has read the healed value, and what others did was undone.
cd "$(dirname "$0")/../../../.." || exit 1

if ! kubectl logs reader 2>/dev/null | grep -q colour:red || ! kubectl logs reader --tail=1 | grep -q colour:green; then
	echo "the pod reader has not printed colour:red and then colour:green yet: change the ConfigMap while settings is down, and start settings"
	exit 1
fi
for why in "not as in the layers: colour" "it is missing" "its label differs"; do
	if ! grep -q "drift=true why=\"$why\"" drift.log 2>/dev/null; then
		echo "drift.log has no repair \"$why\" yet: change, delete and label the ConfigMap while settings runs"
		exit 1
	fi
done
echo done
