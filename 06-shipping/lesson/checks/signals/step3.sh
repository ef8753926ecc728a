#!/bin/sh
# A line at a raised level shows an attempt that the log hides otherwise.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q '^"reconcileID"' keys.log 2>/dev/null; then
	echo "keys.log doesn't have the keys of a line yet: take one of manager.log apart"
	exit 1
fi
if ! grep -q '"level":"DEBUG.*the server refuses the pod' debug.log 2>/dev/null; then
	echo "debug.log doesn't show the refused pod yet: run the manager with LOG_LEVEL=debug"
	exit 1
fi
echo done
