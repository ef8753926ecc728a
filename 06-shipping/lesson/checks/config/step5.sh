#!/bin/sh
# The manager was upgraded while an At waited, and rolled back.
cd "$(dirname "$0")/../../.." || exit 1

if [ "$(cat upgrade.log 2>/dev/null)" != "cnat-manager:v0.6.1
cnat-manager:v0.6.0" ]; then
	echo "upgrade.log does not show yet that v0.6.1 was installed, and then v0.6.0 again"
	exit 1
fi
if [ "$(kubectl get at meanwhile -o jsonpath='{.status.phase}' 2>/dev/null)" != DONE ]; then
	echo "the At meanwhile is not DONE: create it before the upgrade"
	exit 1
fi
unready=$(kubectl get deployment cnat-manager -n cnat-system -o jsonpath='{.status.unavailableReplicas}')
if [ -n "$unready" ]; then
	echo "$unready replicas of the manager are not available: kubectl describe pods -n cnat-system"
	exit 1
fi
echo done
