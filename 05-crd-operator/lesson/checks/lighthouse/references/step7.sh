#!/bin/sh
# Step 7: nothing is left.
cd "$(dirname "$0")/../../../.." || exit 1

if ! crds=$(kubectl get crd -o name 2>&1); then
	echo "the cluster does not answer: $crds"
	exit 1
fi
if echo "$crds" | grep -q '/lighthouses\.coast'; then
	echo "the API server still knows Lighthouses: delete them, and delete -f lighthouse/operator/config/crd"
	exit 1
fi
if kubectl get secret light-list >/dev/null 2>&1 || kubectl get serviceaccount robot >/dev/null 2>&1; then
	echo "light-list or robot is still there: delete both"
	exit 1
fi
for file in office.token office.pid leak.log; do
	if [ -e "$file" ]; then
		echo "$file is still there: rm $file"
		exit 1
	fi
done
echo done
