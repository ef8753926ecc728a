#!/bin/sh
# The Ats went first, and nothing is left.
cd "$(dirname "$0")/../../.." || exit 1

if ! crds=$(kubectl get crd -o name 2>&1); then
	echo "the cluster does not answer: $crds"
	exit 1
fi
if echo "$crds" | grep -q '/ats\.cnat'; then
	echo "the API server still knows Ats: delete them, wait for their pods, and delete -f config/crd"
	exit 1
fi
if [ -n "$(kubectl get pods -A -l app.kubernetes.io/managed-by=cnat -o name)" ]; then
	echo "pods of Ats are left: apply -f config/crd, run controllerruntime --all-namespaces until they are gone, and delete the CRD again"
	exit 1
fi
for left in clusterrole/controllerruntime validatingadmissionpolicy/cnat-pods serviceaccount/cnat namespace/full; do
	if kubectl get "$left" >/dev/null 2>&1; then
		echo "$left is still there: delete it"
		exit 1
	fi
done
for file in steps.log fence.log live.log crashed.log once.log refused.log older.log account.log forbidden.log orphan.log index.log leave.log account.kubeconfig account.token; do
	if [ -e "$file" ]; then
		echo "$file is still there: rm $file"
		exit 1
	fi
done
echo done
