#!/bin/sh
# A manager without any right in the whole cluster has run the sample.
cd "$(dirname "$0")/../../.." || exit 1

if [ "$(kubectl logs example-at-pod -n team-a 2>/dev/null)" != YAY ]; then
	echo "the pod example-at-pod in team-a has not printed YAY yet: install the overlay namespaced, and apply config/samples/at.yaml -n team-a"
	exit 1
fi
if kubectl auth can-i create pods -n kube-system --as=system:serviceaccount:cnat-system:cnat-manager >/dev/null 2>&1; then
	echo "the manager may still create pods in kube-system: sh undeploy.sh, then apply the overlay namespaced"
	exit 1
fi
echo done
