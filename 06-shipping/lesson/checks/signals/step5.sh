#!/bin/sh
# The trace of the reconcile that the log named.
cd "$(dirname "$0")/../../.." || exit 1

id=$(sed -n 's/.*refuses the pod.*"reconcileID":"\([^"]*\)".*/\1/p' debug.log 2>/dev/null | head -n 1)
if [ -z "$id" ] || ! grep -q "reconcile At .* $id" one.log 2>/dev/null || ! grep -q 'HTTP POST .*/pods 403' one.log; then
	echo "one.log doesn't have the trace of that reconcile yet: take the reconcileID of debug.log, and find it in traces.log"
	exit 1
fi
echo done
