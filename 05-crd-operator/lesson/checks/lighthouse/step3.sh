#!/bin/sh
# Step 3: the Deployment follows the Lighthouse.
if [ "$(kubectl get deployment eddystone -o jsonpath='{.spec.replicas}' 2>/dev/null)" != 2 ]; then
	echo "the Deployment eddystone doesn't have two pods yet: solve update, and run your operator"
	exit 1
fi
echo done
