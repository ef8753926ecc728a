#!/bin/sh
# Step 6: another manager has taken over.
cd "$(dirname "$0")/../.." || exit 1

if [ "$(sort -u leaders.log 2>/dev/null | grep -c cnat-manager)" != 2 ]; then
	echo "leaders.log does not have two leaders: delete the pod of the one that leads"
	exit 1
fi
if [ "$(kubectl get deployment cnat-manager -n cnat-system -o jsonpath='{.spec.replicas}')" != 2 ]; then
	echo "the Deployment does not want two replicas: kubectl apply -k config/overlays/ha"
	exit 1
fi
echo done
