#!/bin/sh
# v1alpha1 is not served, and eddystone is still there.
cd "$(dirname "$0")/../../../.." || exit 1

if kubectl get lighthouses.v1alpha1.coast.example.com >/dev/null 2>&1; then
	echo "v1alpha1 is still served: serve false"
	exit 1
fi
if ! kubectl get lighthouse eddystone >/dev/null 2>&1; then
	echo "the Lighthouse eddystone is gone: apply it again, in v1beta1"
	exit 1
fi
echo done
