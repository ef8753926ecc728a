#!/bin/sh
# A manager without any right in the whole cluster has run the sample, and people use Ats with edit and view.
cd "$(dirname "$0")/../../.." || exit 1

if [ "$(kubectl logs example-at-pod -n team-a 2>/dev/null)" != YAY ]; then
	echo "the pod example-at-pod in team-a has not printed YAY yet: apply the overlay namespaced, and the sample in team-a"
	exit 1
fi
if kubectl auth can-i create pods -n kube-system --as=system:serviceaccount:cnat-system:cnat-manager >/dev/null 2>&1; then
	echo "the manager may still create pods in kube-system: sh undeploy.sh, then apply the overlay namespaced"
	exit 1
fi
if ! kubectl get at adas -n team-a >/dev/null 2>&1; then
	echo "Ada has no At in team-a yet: bind edit to her there, and create it with --as=ada"
	exit 1
fi
if ! grep -q 'User "bob" cannot delete resource "ats"' view.log 2>/dev/null; then
	echo "view.log does not show yet that Bob may not delete it: bind view to him in team-a, and try it with --as=bob"
	exit 1
fi
echo done
