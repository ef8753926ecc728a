#!/bin/sh
# Nothing is left of the account and its rights.
cd "$(dirname "$0")/../../.." || exit 1

if ! crds=$(kubectl get crd -o name 2>&1); then
	echo "the cluster does not answer: $crds"
	exit 1
fi
if echo "$crds" | grep -q '/ats\.cnat'; then
	echo "the API server still knows Ats: delete them, and delete -f config/crd"
	exit 1
fi
for left in clusterrole/controllerruntime validatingadmissionpolicy/cnat-pods serviceaccount/cnat; do
	if kubectl get "$left" >/dev/null 2>&1; then
		echo "$left is still there: delete it"
		exit 1
	fi
done
for file in account.log forbidden.log orphan.log index.log account.kubeconfig account.token; do
	if [ -e "$file" ]; then
		echo "$file is still there: rm $file"
		exit 1
	fi
done
echo done
