#!/bin/sh
# Step 6: the old status was read in two ways, and now the lamps have the new flash.
cd "$(dirname "$0")/../../../.." || exit 1

if ! grep -q '^generation 2, observed 1$' old.log 2>/dev/null; then
	echo "old.log does not show a status of generation 1: stop the operator, and then change the flash"
	exit 1
fi
if [ "$(kubectl get lighthouse eddystone -o jsonpath='{.status.conditions[0].observedGeneration}' 2>/dev/null)" != 2 ]; then
	echo "the status is still that of generation 1: start the operator again"
	exit 1
fi
echo done
