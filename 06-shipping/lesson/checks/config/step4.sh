#!/bin/sh
# The leader was evicted, another took over, and the budget protected that one.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q "violate the pod's disruption budget" evicted.log 2>/dev/null; then
	echo "evicted.log does not show yet that the budget refused an eviction: evict both pods, one right after the other"
	exit 1
fi
if [ ! -s leaders.log ]; then
	echo "leaders.log does not name two leaders yet: evict the leader, and wait until another pod has the Lease"
	exit 1
fi
if [ "$(kubectl get deployment cnat-manager -n cnat-system -o jsonpath='{.spec.replicas}' 2>/dev/null)" != 2 ]; then
	echo "the Deployment does not have two replicas: apply config/overlays/ha"
	exit 1
fi
echo done
