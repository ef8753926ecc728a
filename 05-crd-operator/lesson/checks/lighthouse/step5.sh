#!/bin/sh
# Step 5: the Lighthouse wolf has a Deployment of its own.
if [ "$(kubectl get deployment wolf -o jsonpath='{.metadata.ownerReferences[0].kind}' 2>/dev/null)" != Lighthouse ]; then
	echo "the Lighthouse wolf has no Deployment of its own yet: solve others, run your operator, and run the commands of this step"
	exit 1
fi
echo done
