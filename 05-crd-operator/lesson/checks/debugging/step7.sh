#!/bin/sh
# Step 7: nothing is left of this part.
cd "$(dirname "$0")/../../.." || exit 1

if ! crds=$(kubectl get crd -o name 2>&1); then
	echo "the cluster does not answer: $crds"
	exit 1
fi
if echo "$crds" | grep -qE 'ats\.cnat|settingslayers'; then
	echo "the API server still knows the kinds of this stage: kubectl delete -f config/crd"
	exit 1
fi
if kubectl get clusterrolebinding cnat >/dev/null 2>&1 || kubectl get serviceaccount cnat >/dev/null 2>&1; then
	echo "the account cnat or its binding is still there: delete both"
	exit 1
fi
for left in *.log *.pprof hot.pid cnat.kubeconfig cnat.token; do
	if [ -e "$left" ]; then
		echo "$left is still there: rm $left"
		exit 1
	fi
done
echo done
