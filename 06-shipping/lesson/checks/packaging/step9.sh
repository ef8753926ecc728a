#!/bin/sh
# Step 9: nothing is left of this part.
cd "$(dirname "$0")/../../.." || exit 1

if ! left=$(kubectl get crds,namespaces,clusterroles,validatingadmissionpolicies -o name 2>&1); then
	echo "the cluster does not answer: $left"
	exit 1
fi
if left=$(echo "$left" | grep -E 'cnat|settingslayers|operatorframework|operators.coreos.com|namespace/(olm|operators)'); then
	echo "these are still there: delete them as the step does:" $left
	exit 1
fi
if [ -e bin ] || [ -e csv.log ]; then
	echo "bin and the logs are still there: rm -rf ./*.log bin"
	exit 1
fi
echo done
