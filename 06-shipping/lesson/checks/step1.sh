#!/bin/sh
# Step 1: the manager has run on this machine, and given its Lease back.
cd "$(dirname "$0")/../.." || exit 1

if ! grep -q '"wrote the status".*"laptop".*"DONE"' manager.log 2>/dev/null; then
	echo "manager.log does not tell that the At laptop is DONE: run bin/manager, and create it"
	exit 1
fi
if [ -n "$(kubectl get lease cnat-manager -o jsonpath='{.spec.holderIdentity}')" ]; then
	echo "somebody still holds the Lease cnat-manager: stop the manager with kill, not with kill -9"
	exit 1
fi
echo done
