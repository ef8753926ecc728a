#!/bin/sh
# Step 4: the command of ghost has run again after it was DONE, because of a stale cache.
cd "$(dirname "$0")/../../.." || exit 1

if [ "$(grep -cs YAY ghost.log)" != 2 ]; then
	echo "ghost.log does not have YAY twice yet: lab freeze ats, and delete the pod when the At is DONE"
	exit 1
fi
if ! grep -q "has been modified" stale.log 2>/dev/null; then
	echo "stale.log does not have a 409 yet: the second attempt to write DONE should be rejected"
	exit 1
fi
if [ -n "$(kubectl get nodes --field-selector=spec.unschedulable=true -o name)" ]; then
	echo "a node is cordoned: kubectl uncordon -l kubernetes.io/os"
	exit 1
fi
echo done
