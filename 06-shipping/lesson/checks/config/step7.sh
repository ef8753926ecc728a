#!/bin/sh
# The manager was uninstalled after its Ats, and nothing is left.
cd "$(dirname "$0")/../../.." || exit 1

if ! left=$(kubectl get crds,namespaces,clusterroles,clusterrolebindings,validatingadmissionpolicies,validatingadmissionpolicybindings -o name 2>&1); then
	echo "the cluster does not answer: $left"
	exit 1
fi
if left=$(echo "$left" | grep -E 'cnat|settingslayers|team-'); then
	echo "these are still there: delete them as the step does:" $left
	exit 1
fi
for file in install.yaml refused.log evicted.log leaders.log upgrade.log undeploy.log; do
	if [ -e "$file" ]; then
		echo "$file is still there: rm $file"
		exit 1
	fi
done
echo done
