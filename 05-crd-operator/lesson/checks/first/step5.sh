#!/bin/sh
# Step 5: buoy is DONE, although the only pod of that name is somebody else's.
cd "$(dirname "$0")/../../.." || exit 1

if [ "$(kubectl get at buoy -o jsonpath='{.status.phase}' 2>/dev/null)" != DONE ]; then
	echo "the At buoy is not DONE yet: create it while ./bin/first runs"
	exit 1
fi
if [ "$(kubectl logs buoy-pod 2>/dev/null)" != ballast ]; then
	echo "the pod buoy-pod is not the foreign one: create it before the At"
	exit 1
fi
echo done
