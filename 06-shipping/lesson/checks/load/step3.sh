#!/bin/sh
# Step 3: a pod that asked for too much stayed Pending, and the Deployment is as it was.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q 'Insufficient memory' pending.log 2>/dev/null; then
	echo "pending.log does not say that there is not enough memory: let the manager ask for 4Ti"
	exit 1
fi
memory=$(kubectl get deployment cnat-manager -n cnat-system -o jsonpath='{.spec.template.spec.containers[0].resources.requests.memory}' 2>/dev/null)
if ! grep -q "^$memory " asks.log 2>/dev/null; then
	echo "the Deployment asks for $memory: kubectl rollout undo -n cnat-system deployment/cnat-manager"
	exit 1
fi
echo done
