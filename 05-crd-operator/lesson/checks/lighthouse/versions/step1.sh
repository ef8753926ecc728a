#!/bin/sh
# The old CRD and an old Lighthouse are there.
cd "$(dirname "$0")/../../../.." || exit 1

if ! kubectl get lighthouses.v1alpha1.coast.example.com eddystone >/dev/null 2>&1; then
	echo "there is no Lighthouse eddystone in v1alpha1 yet: kubectl apply -f lighthouse/versions/eddystone.yaml"
	exit 1
fi
echo done
