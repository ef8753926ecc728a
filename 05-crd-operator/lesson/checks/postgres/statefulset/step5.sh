#!/bin/sh
# A disk came back with old data, and then all is gone.
cd "$(dirname "$0")/../../../.." || exit 1

if ! grep -q '^old' scale.log 2>/dev/null; then
	echo "scale.log does not show the old row yet: write one into db-2, scale to 1 and to 3 again, and read it"
	exit 1
fi
if [ -n "$(kubectl get pgc,statefulset,pvc -o name)" ] || [ -f operator.pid ]; then
	echo "something is left: delete the StatefulSet, its claims, and the cluster demo while the operator runs, then end that"
	exit 1
fi
echo done
