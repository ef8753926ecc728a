#!/bin/sh
# v1alpha1 is out of the CRD, and nothing is lost.
cd "$(dirname "$0")/../../../.." || exit 1

if [ "$(kubectl get crd lighthouses.coast.example.com -o jsonpath='{.spec.versions[*].name}' 2>/dev/null)" != v1beta1 ]; then
	echo "the CRD has another version than v1beta1: remove it with a patch"
	exit 1
fi
if [ "$(kubectl get lighthouses -o name | wc -l)" -ne 21 ]; then
	echo "there are no 21 Lighthouses"
	exit 1
fi
echo done
