#!/bin/sh
# Step 2: the naive operator has written all the time.
cd "$(dirname "$0")/../../../.." || exit 1

if [ "$(grep -c '^generation' naive-versions.log 2>/dev/null)" != 2 ] || [ "$(sort -u naive-versions.log | wc -l)" != 2 ]; then
	echo "naive-versions.log does not show two resource versions: run bin/naive, and print them a second apart"
	exit 1
fi
if kubectl get lighthouse eddystone >/dev/null 2>&1; then
	echo "the Lighthouse eddystone is still there: kubectl delete lighthouse eddystone"
	exit 1
fi
echo done
