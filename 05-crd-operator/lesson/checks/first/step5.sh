#!/bin/sh
# Step 5: dory has a second pod, because the first was deleted.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -qsE '^[0-9a-f-]{36} [0-9a-f-]{36}$' uids.log; then
	echo "uids.log does not have the UIDs of two pods yet: delete the pod dory-pod while ./bin/first runs"
	exit 1
fi
if [ "$(kubectl get at dory -o jsonpath='{.status.phase}' 2>/dev/null)" != RUNNING ]; then
	echo "the At dory is not RUNNING: let it sleep for longer"
	exit 1
fi
echo done
