#!/bin/sh
# The manager runs in the cluster, has run the sample, and then learnt another region.
cd "$(dirname "$0")/../../.." || exit 1

if [ "$(kubectl get deployment cnat-manager -n cnat-system -o jsonpath='{.status.availableReplicas}' 2>/dev/null)" != 1 ]; then
	echo "the Deployment cnat-manager has no available replica yet: kubectl apply -f install.yaml, then kubectl describe pods -n cnat-system"
	exit 1
fi
if [ "$(kubectl logs example-at-pod 2>/dev/null)" != YAY ]; then
	echo "the pod example-at-pod has not printed YAY yet: kubectl apply -f config/samples/at.yaml"
	exit 1
fi
if ! kubectl logs -n cnat-system deployment/cnat-manager | grep -q '"region":"harbour"'; then
	echo "the log of the manager does not have the region harbour yet: REGION=harbour sh dist.sh > install.yaml, and apply it"
	exit 1
fi
echo done
