#!/bin/sh
# An At that was postponed while the cache was stale waits, and has no pod.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q 'writing the status of the At default/postponed' fence.log 2>/dev/null; then
	echo "fence.log does not show yet that the status of the At postponed could not be written: create it while the lab refuses writes of the status"
	exit 1
fi
if ! lab logs requests | grep -q 'PUT.*/ats/postponed/status 409'; then
	echo "lab logs requests shows no 409 for the At postponed yet: postpone it while the cache of Ats is frozen"
	exit 1
fi
if [ "$(kubectl get at postponed -o jsonpath='{.status.phase} {.spec.schedule}' 2>/dev/null)" != "PENDING 2099-04-12T10:12:00Z" ]; then
	echo "the At postponed is not PENDING until 2099: postpone it while the cache is frozen, then lab thaw"
	exit 1
fi
if kubectl get pod postponed-pod >/dev/null 2>&1; then
	echo "the At postponed has a pod: delete the At, and postpone the next one while the cache is frozen"
	exit 1
fi
echo done
