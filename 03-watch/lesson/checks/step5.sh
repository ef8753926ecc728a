#!/bin/sh
# Step 5: faults 5 and 6 have shown.
cd "$(dirname "$0")/../.." || exit 1

if [ ! -f lists.log ] || [ "$(grep -c "^Pods in namespace default have" lists.log)" -lt 6 ]; then
	echo "lists.log doesn't have six events yet: label the pod five times while ./naive runs"
	exit 1
fi
if ! grep -q 'error: listing the pods: ' once.log 2>/dev/null; then
	echo "once.log has no list that failed yet: lab refuse 500 pods list, and start the program with lab run ./naive"
	exit 1
fi
if grep -q '^Pods in namespace default have' once.log; then
	echo "once.log has a list that succeeded: remove it, and do the block again"
	exit 1
fi
echo done
