#!/bin/sh
# Step 7: a manager without any right in the whole cluster has run the sample.
cd "$(dirname "$0")/../.." || exit 1

if [ "$(kubectl logs example-at-pod -n team-a 2>/dev/null)" != YAY ]; then
	echo "the pod example-at-pod in team-a has not said YAY: apply the overlay namespaced, and the sample in team-a"
	exit 1
fi
account=system:serviceaccount:cnat-system:cnat-manager
if kubectl auth can-i list ats --all-namespaces --as="$account" >/dev/null 2>&1; then
	echo "the manager may still list Ats in the whole cluster: sh undeploy.sh, then apply the overlay namespaced"
	exit 1
fi
echo done
