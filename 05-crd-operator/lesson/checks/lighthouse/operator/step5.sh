#!/bin/sh
# Step 5: the operator has said that a name was taken, and the Lighthouse wolf is gone.
cd "$(dirname "$0")/../../../.." || exit 1

if ! grep -q 'NameTaken' grown.log 2>/dev/null; then
	echo "grown.log does not show NameTaken: create a Deployment wolf, and then the Lighthouse wolf"
	exit 1
fi
if kubectl get lighthouse wolf >/dev/null 2>&1 || kubectl get deployment wolf >/dev/null 2>&1; then
	echo "wolf is still there: kubectl delete lighthouse/wolf deployment/wolf"
	exit 1
fi
echo done
