#!/bin/sh
# Step 2: first/ has printed the pod, and a change to it.
cd "$(dirname "$0")/../.." || exit 1

for type in ADDED MODIFIED; do
	if ! grep -q "^$type pod bell in namespace default" naive.log 2>/dev/null; then
		echo "naive.log has no line that begins with \"$type pod bell\" yet: run ./naive, and label the pod meanwhile"
		exit 1
	fi
done
echo done
