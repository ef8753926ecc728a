#!/bin/sh
# Two replicas have led at the same time, and there is one pod for each At.
cd "$(dirname "$0")/../../.." || exit 1

if [ "$(grep -c 'leads: 1' paused.log 2>/dev/null)" != 2 ] || ! grep -q ' 409: ' paused.log; then
	echo "paused.log does not show yet two leaders and their conflicts: pause the leader, resume it when the standby leads, and apply twenty Ats"
	exit 1
fi
if [ "$(kubectl get pods -o name | grep -c paused)" != 20 ]; then
	echo "there should be twenty pods named paused: do the step again"
	exit 1
fi
echo done
