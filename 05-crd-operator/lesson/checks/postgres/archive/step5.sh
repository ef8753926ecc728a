#!/bin/sh
# A cluster that was deleted came back, and is gone.
cd "$(dirname "$0")/../../../.." || exit 1

if ! grep -q '^written' back.log 2>/dev/null; then
	echo "back.log does not show the last row yet: delete the cluster, and make it of its backup"
	exit 1
fi
if [ -n "$(kubectl get pgc,pvc -o name)" ] || [ -f operator.pid ]; then
	echo "the cluster is still there, its backup, or the operator: delete them, and end the operator last"
	exit 1
fi
echo done
