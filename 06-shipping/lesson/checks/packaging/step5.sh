#!/bin/sh
# Step 5: the release is gone, the CRDs have outlived it, and are gone, too.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q ats.cnat.programming-kubernetes.info crds.log 2>/dev/null; then
	echo "crds.log does not show that the CRDs outlive the release: uninstall it, and list the CRDs"
	exit 1
fi
if ! left=$(kubectl get crds,namespaces,clusterroles,validatingadmissionpolicies -o name 2>&1); then
	echo "the cluster does not answer: $left"
	exit 1
fi
if left=$(echo "$left" | grep -E 'cnat|settingslayers'); then
	echo "these are still there: delete them as the step does:" $left
	exit 1
fi
echo done
