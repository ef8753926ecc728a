#!/bin/sh
# Step 3: the table of what the manager does has been printed.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q "c.queue.Get()" diff.log 2>/dev/null; then
	echo "diff.log does not have the table yet: make -s -C .. diff-5 | tee diff.log"
	exit 1
fi
echo done
