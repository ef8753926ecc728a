#!/bin/sh
# Step 3: the Lighthouse controls its Deployment, so that it heals.
if [ "$(kubectl get deployment eddystone -o jsonpath='{.metadata.ownerReferences[0].kind}' 2>/dev/null)" != Lighthouse ]; then
	echo "the Deployment eddystone has no Lighthouse as its owner yet: solve heal, and run your operator"
	exit 1
fi
echo done
