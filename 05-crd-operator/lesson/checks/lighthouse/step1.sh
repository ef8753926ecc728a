#!/bin/sh
# Step 1: the API server knows the kind, and stores a Lighthouse.
if ! kubectl get lighthouse eddystone >/dev/null 2>&1; then
	echo "there is no Lighthouse eddystone yet: kubectl apply -f lighthouse/first/crd.yaml, and then eddystone.yaml beside it"
	exit 1
fi
echo done
