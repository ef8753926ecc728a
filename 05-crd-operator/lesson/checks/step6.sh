#!/bin/sh
# Step 6: an account that has only the shipped role has run the sample.
cd "$(dirname "$0")/../.." || exit 1

account=system:serviceaccount:default:cnat
if ! kubectl auth can-i create pods --as="$account" >/dev/null 2>&1; then
	echo "the service account cnat may not create pods: bind it to the role clientgo"
	exit 1
fi
if kubectl auth can-i delete pods --as="$account" >/dev/null 2>&1; then
	echo "the service account cnat may delete pods, which no operator here needs"
	exit 1
fi
if ! grep -q 'wrote the status.*example-at.*DONE' role.log 2>/dev/null; then
	echo "role.log does not tell that example-at is DONE: run clientgo with cnat.kubeconfig"
	exit 1
fi
echo done
