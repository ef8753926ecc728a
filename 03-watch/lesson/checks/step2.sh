#!/bin/sh
# Step 2: naive has told of the pod, and of a change to it.
cd "$(dirname "$0")/../.." || exit 1

for type in ADDED MODIFIED; do
	if ! grep -q "^$type pod bell in namespace default" naive.log 2>/dev/null; then
		echo "naive.log has no line that begins with \"$type pod bell\" yet: run watch naive, and label the pod meanwhile"
		exit 1
	fi
done
echo done
