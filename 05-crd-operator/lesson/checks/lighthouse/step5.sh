#!/bin/sh
# Step 5: the status says that all lamps burn.
if [ "$(kubectl get lighthouse eddystone -o jsonpath='{.status.conditions[?(@.type=="Ready")].status}' 2>/dev/null)" != True ]; then
	echo "the Lighthouse eddystone isn't Ready yet: solve count and ready, and run your operator"
	exit 1
fi
echo done
