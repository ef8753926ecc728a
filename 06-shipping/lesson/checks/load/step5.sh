#!/bin/sh
# Step 5: the soak has found the goroutines that never end, and the change was taken back.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q '^leader  *goroutines .*GROWS$' leak.log 2>/dev/null; then
	echo "leak.log does not show that the goroutines of the leader grow: apply the patch, and let the soak run"
	exit 1
fi
if ! git -C .. apply --check 06-shipping/lesson/exercises/leak/break.patch 2>/dev/null; then
	echo "the change is still there: git -C .. apply -R 06-shipping/lesson/exercises/leak/break.patch"
	exit 1
fi
echo done
