#!/bin/sh
# Step 2: the operator has created a Deployment.
if ! kubectl get deployment eddystone >/dev/null 2>&1; then
	echo "there is no Deployment eddystone yet: solve create, and run your operator"
	exit 1
fi
echo done
