#!/bin/sh
# Step 7: nothing is left.
if kubectl get crd lighthouses.coast.example.com >/dev/null 2>&1; then
	echo "the kind is still there: kubectl delete -f lighthouse/first/crd.yaml"
	exit 1
fi
echo done
