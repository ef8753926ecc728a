#!/bin/sh
# The cluster demo is backed up.
cd "$(dirname "$0")/../../../.." || exit 1

if [ "$(kubectl get pgc demo -o jsonpath='{.status.conditions[?(@.type=="BackedUp")].status}' 2>/dev/null)" != True ]; then
	echo "the cluster demo is not backed up yet: run the operator, and apply the cluster with spec.backup"
	exit 1
fi
echo done
