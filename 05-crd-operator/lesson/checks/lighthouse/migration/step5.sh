#!/bin/sh
# v1alpha1 is out of the CRD and out of managedFields, and nothing is lost.
cd "$(dirname "$0")/../../../.." || exit 1

if [ "$(kubectl get crd lighthouses.coast.example.com -o jsonpath='{.spec.versions[*].name}' 2>/dev/null)" != v1beta1 ]; then
	echo "the CRD has another version than v1beta1: remove it with a patch"
	exit 1
fi
if kubectl get lighthouses --show-managed-fields -o jsonpath='{.items[*].metadata.managedFields[*].apiVersion}' | grep -q v1alpha1; then
	echo "managedFields still have entries of v1alpha1: bin/migration -disown v1alpha1"
	exit 1
fi
if [ "$(kubectl get lighthouses -o name | wc -l)" -lt 21 ]; then
	echo "there are no 21 Lighthouses"
	exit 1
fi
echo done
