#!/bin/sh
# New writes are stored in v1beta1, and old objects are still in v1alpha1.
cd "$(dirname "$0")/../../../.." || exit 1

crd() { kubectl get crd lighthouses.coast.example.com -o jsonpath="$1" 2>/dev/null; }
if [ "$(crd '{.spec.versions[?(@.storage)].name}')" != v1beta1 ]; then
	echo "v1beta1 is not the storage version yet: kubectl patch crd lighthouses.coast.example.com as the step does"
	exit 1
fi
if [ "$(kubectl get lighthouses.v1beta1.coast.example.com -o name 2>/dev/null | wc -l)" -lt 100 ] &&
	! grep -q 'Serving webhook server' operator.log 2>/dev/null; then
	echo "there are no hundred Lighthouses yet: sh lighthouse/migration/many.sh 100 | kubectl create -f -"
	exit 1
fi
echo done
