#!/bin/sh
# Step 4: the Deployment follows the Lighthouse.
if [ "$(kubectl get deployment eddystone -o jsonpath='{.spec.replicas}' 2>/dev/null)" != 2 ]; then
	echo "the Deployment eddystone doesn't have two pods yet: solve quiet, run your operator, and patch the Lighthouse"
	exit 1
fi
echo done
