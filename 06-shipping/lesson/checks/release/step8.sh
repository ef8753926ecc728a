#!/bin/sh
# Step 8: nothing is left of this part.
cd "$(dirname "$0")/../../.." || exit 1

if kubectl get crd,namespaces,clusterroles,clusterrolebindings,validatingadmissionpolicies -o name | grep -E 'cnat|settingslayers|pinned-images'; then
	echo "this is still there: kubectl delete -f bin/pinned.yaml, and sh undeploy.sh"
	exit 1
fi
if curl --silent --fail http://127.0.0.1:5050/v2/ >/dev/null; then
	echo "the registry still runs: end it"
	exit 1
fi
for left in *.log install.yaml ../bin/.clone ../bin/.again bin; do
	if [ -e "$left" ]; then
		echo "$left is left: remove it"
		exit 1
	fi
done
echo done
