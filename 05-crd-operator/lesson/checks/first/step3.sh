#!/bin/sh
# Step 3: the command of crane has run twice, because of a crash, and dory has a second pod.
cd "$(dirname "$0")/../../.." || exit 1

if [ "$(grep -cs YAY crane.log)" != 2 ]; then
	echo "crane.log does not have YAY twice yet: kill ./bin/first after the create, delete the pod, and start it again"
	exit 1
fi
if [ "$(kubectl get at crane -o jsonpath='{.status.phase}' 2>/dev/null)" != DONE ]; then
	echo "the At crane is not DONE yet: run ./bin/first"
	exit 1
fi
if [ -n "$(kubectl get nodes --field-selector=spec.unschedulable=true -o name)" ]; then
	echo "a node is cordoned: kubectl uncordon -l kubernetes.io/os"
	exit 1
fi
if ! grep -qsE '^[0-9a-f-]{36} [0-9a-f-]{36}$' uids.log; then
	echo "uids.log does not have the UIDs of two pods yet: delete the pod dory-pod while ./bin/first runs"
	exit 1
fi
if [ "$(kubectl get at dory -o jsonpath='{.status.phase}' 2>/dev/null)" != RUNNING ]; then
	echo "the At dory is not RUNNING: let it sleep for longer"
	exit 1
fi
echo done
