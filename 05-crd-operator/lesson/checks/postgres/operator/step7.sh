#!/bin/sh
# The cluster is gone, and so is all that it had.
cd "$(dirname "$0")/../../../.." || exit 1

if [ ! -f unsafe.log ]; then
	echo "there is nothing to delete yet: begin with step 1"
	exit 1
fi
if [ -n "$(kubectl get pgc,pods,pvc -o name)" ] || [ -f operator.pid ]; then
	echo "the cluster is still there, or the operator: kubectl delete pgc demo while the operator runs, then end it"
	exit 1
fi
echo done
