#!/bin/sh
# Step 8: nothing is left of this stage.
cd "$(dirname "$0")/../.." || exit 1

if kubectl get crd,namespaces,clusterroles,clusterrolebindings,validatingadmissionpolicies,validatingadmissionpolicybindings -o name | grep -E 'cnat|settingslayers|team-'; then
	echo "this is still there: delete it as the step says"
	exit 1
fi
for left in *.log install.yaml; do
	if [ -e "$left" ]; then
		echo "$left is left: remove it"
		exit 1
	fi
done
echo done
