#!/bin/sh
# Step 4: the Lighthouse owns its Deployment.
if [ "$(kubectl get deployment eddystone -o jsonpath='{.metadata.ownerReferences[0].kind}' 2>/dev/null)" != Lighthouse ]; then
	echo "the Deployment eddystone has no Lighthouse as its owner yet: solve owner, delete the Deployment, and run your operator"
	exit 1
fi
echo done
