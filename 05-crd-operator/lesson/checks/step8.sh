#!/bin/sh
# Step 8: nothing is left of this stage.
cd "$(dirname "$0")/../.." || exit 1

if kubectl get crd -o name | grep -qE 'ats\.cnat|settingslayers'; then
	echo "the API server still knows the kinds of this stage: kubectl delete -f config/crd"
	exit 1
fi
for left in *.log cnat.kubeconfig; do
	if [ -e "$left" ]; then
		echo "$left is left: remove it"
		exit 1
	fi
done
echo done
