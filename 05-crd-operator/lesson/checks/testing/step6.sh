#!/bin/sh
# Step 6: nothing is left of this part.
cd "$(dirname "$0")/../../.." || exit 1

if ! crds=$(kubectl get crd -o name 2>&1); then
	echo "the cluster does not answer: $crds"
	exit 1
fi
if echo "$crds" | grep -qE 'ats\.cnat|settingslayers'; then
	echo "the API server still knows the kinds of this stage: kubectl delete -f config/crd"
	exit 1
fi
for left in attempt *.log; do
	if [ -e "$left" ]; then
		echo "$left is still there: rm -r $left"
		exit 1
	fi
done
echo done
