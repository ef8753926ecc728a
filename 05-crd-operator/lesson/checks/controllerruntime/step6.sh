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
if kubectl get namespace full >/dev/null 2>&1; then
	echo "the namespace full is still there: delete it"
	exit 1
fi
for file in steps.log once.log live.log crashed.log refused.log older.log leave.log; do
	if [ -e "$file" ]; then
		echo "$file is still there: rm $file"
		exit 1
	fi
done
echo done
