#!/bin/sh
# A reconcile took more than a second, and all of it was spent waiting for answers.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -qE 'reconcile At [1-9][0-9.]*s harbour slow' slow.log 2>/dev/null; then
	echo "slow.log doesn't have the trace of a slow reconcile yet: create the At while lab slow is on"
	exit 1
fi
if ! grep -q '^controller_runtime_reconcile_time_seconds_count' times.log 2>/dev/null; then
	echo "times.log doesn't have the metrics yet: read them after that"
	exit 1
fi
echo done
