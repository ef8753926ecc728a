#!/bin/sh
# Step 5: the office was busy, and all of them have waited.
cd "$(dirname "$0")/../../../.." || exit 1

if ! grep -q ' 429$' busy.log 2>/dev/null; then
	echo "busy.log does not show a 429: set the fault, and create three more Lighthouses"
	exit 1
fi
for name in wolf fastnet bishop; do
	if [ -z "$(kubectl get lighthouse "$name" -o jsonpath='{.status.number}' 2>/dev/null)" ]; then
		echo "$name has no number yet: wait until all Lighthouses are Ready"
		exit 1
	fi
done
echo done
