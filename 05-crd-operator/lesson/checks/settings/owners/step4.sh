#!/bin/sh
# A finalizer has kept the ConfigMap, until it was removed.
cd "$(dirname "$0")/../../../.." || exit 1

if ! grep -q 'it is being deleted' finalizer.log 2>/dev/null; then
	echo "finalizer.log does not show yet that the ConfigMap was being deleted: add a finalizer to it, and delete it, while settings runs"
	exit 1
fi
if ! grep -q 'drift=true why="it is missing"' finalizer.log; then
	echo "finalizer.log does not show a new ConfigMap: remove the finalizer while settings runs"
	exit 1
fi
echo done
