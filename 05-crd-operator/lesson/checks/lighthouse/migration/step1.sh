#!/bin/sh
# New writes are stored in v1beta1, and old objects are still in v1alpha1.
cd "$(dirname "$0")/../../../.." || exit 1

if [ "$(kubectl get crd lighthouses.coast.example.com -o jsonpath='{.spec.versions[?(@.storage==true)].name}' 2>/dev/null)" != v1beta1 ]; then
	echo "v1beta1 is not the storage version yet: kubectl patch crd lighthouses.coast.example.com as the step does"
	exit 1
fi
if [ "$(kubectl get lighthouses.v1beta1.coast.example.com -o name 2>/dev/null | wc -l)" -lt 20 ]; then
	echo "there are no twenty Lighthouses yet: create them as the step does, while bin/operator runs"
	exit 1
fi
echo done
