#!/bin/sh
# Step 3: the manager runs in the cluster, and has run the sample.
cd "$(dirname "$0")/../.." || exit 1

if [ "$(kubectl get deployment cnat-manager -n cnat-system -o jsonpath='{.status.availableReplicas}' 2>/dev/null)" != 1 ]; then
	echo "the Deployment cnat-manager has no available replica: kubectl apply -f install.yaml, then kubectl describe pods -n cnat-system"
	exit 1
fi
if [ "$(kubectl logs example-at-pod 2>/dev/null)" != YAY ]; then
	echo "the pod example-at-pod has not said YAY: kubectl apply -f config/samples/at.yaml"
	exit 1
fi
echo done
