#!/bin/sh
# Step 2: the resource version ran away, and the generation did not.
cd "$(dirname "$0")/../../../.." || exit 1

if [ "$(grep -c '^generation' naive-versions.log 2>/dev/null)" != 2 ] || [ "$(sort -u naive-versions.log | wc -l)" != 2 ]; then
	echo "naive-versions.log does not show two resource versions: run bin/naive, and print them a second apart"
	exit 1
fi
if [ "$(cut -d, -f1 naive-versions.log | sort -u | wc -l)" != 1 ]; then
	echo "naive-versions.log shows two generations: somebody has changed the Deployment meanwhile; do the step again"
	exit 1
fi
if kubectl get lighthouse eddystone >/dev/null 2>&1; then
	echo "the Lighthouse eddystone is still there: kubectl delete lighthouse eddystone"
	exit 1
fi
echo done
