#!/bin/sh
# A pod that may run as root was refused, and the Deployment is as it was.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q 'violates PodSecurity.*runAsNonRoot' refused.log 2>/dev/null; then
	echo "refused.log does not show yet that a pod was refused: remove runAsNonRoot from the Deployment"
	exit 1
fi
if [ "$(kubectl get deployment cnat-manager -n cnat-system -o jsonpath='{.spec.template.spec.securityContext.runAsNonRoot}' 2>/dev/null)" != true ]; then
	echo "the Deployment does not have runAsNonRoot: kubectl apply -f install.yaml"
	exit 1
fi
echo done
