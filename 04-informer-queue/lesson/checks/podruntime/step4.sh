#!/bin/sh
# Step 4: podruntime printed pods that came and went, and not a label.
cd "$(dirname "$0")/../../.." || exit 1

for part in "three cranes" "a label" "one crane"; do
	if ! grep -qx "# $part" podruntime.log 2>/dev/null; then
		echo "podruntime.log does not have the part \"$part\" yet: run podruntime and scale the cranes"
		exit 1
	fi
done
lines() { sed -n "/^# $1/,/^# $2/p" podruntime.log | grep -c '^Pods in namespace harbour have been running for'; }
if [ "$(lines 'three cranes' 'a label')" -eq 0 ] || [ "$(lines 'one crane' 'the end')" -eq 0 ]; then
	echo "podruntime.log has no line about pods that came and went: scale the cranes while podruntime runs"
	exit 1
fi
if [ "$(lines 'a label' 'one crane')" -ne 0 ]; then
	echo "podruntime.log has a line for a label, which changes no total: remove the file and do the step again"
	exit 1
fi
echo done
