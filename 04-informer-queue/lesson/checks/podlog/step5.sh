#!/bin/sh
# Step 5: without a full cache the sum was wrong, and with one it was right.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep "^Pods in namespace default" hasty.log 2>/dev/null | head -n 1 | grep -q "for 0\.00 minutes"; then
	echo "hasty.log does not begin with a wrong sum yet: run ./bin/hasty while the connection is cut"
	exit 1
fi
if ! grep -q "^Pods in namespace default" patient.log 2>/dev/null; then
	echo "patient.log has no sum yet: run ./bin/patient, and start kubectl proxy"
	exit 1
fi
if grep -q "for 0\.00 minutes" patient.log; then
	echo "patient.log has a wrong sum: let it wait for the cache, with WaitForCacheSync"
	exit 1
fi
echo done
