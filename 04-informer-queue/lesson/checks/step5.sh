#!/bin/sh
# Step 5: podruntime told of pods that came and went, and not of a label.
cd "$(dirname "$0")/../.." || exit 1

for part in "three cranes" "a label" "one crane"; do
	if ! grep -qx "# $part" podruntime.log 2>/dev/null; then
		echo "podruntime.log does not have the part \"$part\" yet: run podruntime and scale the cranes"
		exit 1
	fi
done
told() { sed -n "/^# $1/,/^# $2/p" podruntime.log | grep -c '^Pods in namespace harbour have been running for'; }
if [ "$(told 'three cranes' 'a label')" -eq 0 ] || [ "$(told 'one crane' 'the end')" -eq 0 ]; then
	echo "podruntime.log does not tell of pods that came and went: scale the cranes while podruntime runs"
	exit 1
fi
if [ "$(told 'a label' 'one crane')" -ne 0 ]; then
	echo "podruntime.log tells of a label, which changes no total: remove the file and do the step again"
	exit 1
fi
echo done
