#!/bin/sh
# Step 6: nothing is left of this part.
cd "$(dirname "$0")/../../.." || exit 1

if kubectl get crd,namespaces,clusterroles,clusterrolebindings,validatingadmissionpolicies -o name | grep -E 'cnat|settingslayers'; then
	echo "this is still there: sh undeploy.sh"
	exit 1
fi
for left in *.log *.pprof; do
	if [ -e "$left" ]; then
		echo "$left is left: remove it"
		exit 1
	fi
done
echo done
