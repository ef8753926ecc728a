#!/bin/sh
# An At that was postponed while the cache was stale waits, and has no pod.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q 'writing the status of the At default/postponed' fence.log 2>/dev/null; then
	echo "fence.log does not show yet that the status of the At postponed could not be written: create it while the proxy rejects writes of the status"
	exit 1
fi
if ! grep -q 'PUT.*/ats/postponed/status.*409 Conflict' proxy.log 2>/dev/null; then
	echo "proxy.log shows no 409 for the At postponed yet: postpone it while the proxy is down, and freeze the cache of Ats"
	exit 1
fi
if [ "$(kubectl get at postponed -o jsonpath='{.status.phase} {.spec.schedule}' 2>/dev/null)" != "PENDING 2099-04-12T10:12:00Z" ]; then
	echo "the At postponed is not PENDING until 2099: postpone it while the proxy is down, and let controllerruntime see that"
	exit 1
fi
if kubectl get pod postponed-pod >/dev/null 2>&1; then
	echo "the At postponed has a pod: delete the At, and postpone the next one while the proxy is down"
	exit 1
fi
echo done
