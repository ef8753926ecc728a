#!/bin/sh
# Step 6: after a crash, nothing was lost.
if [ "$(kubectl get lighthouse fastnet -o jsonpath='{.status.burning}' 2>/dev/null)" != 2 ]; then
	echo "no two lamps of a Lighthouse fastnet burn yet: solve count and ready, run your operator, and kill it"
	exit 1
fi
echo done
