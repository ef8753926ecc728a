#!/bin/sh
# Step 5: a new process found the state as it was, without having been told.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q "^2 pods" before.log 2>/dev/null; then
	echo "before.log doesn't show two pods yet: run ./bin/counts while bell and buoy are there"
	exit 1
fi
if ! grep "pods in namespace default" after.log 2>/dev/null | head -n 1 | grep -q "^1 pods"; then
	echo "after.log doesn't begin with one pod yet: kill ./bin/counts, delete buoy, and only then run it again"
	exit 1
fi
echo done
