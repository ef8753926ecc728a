#!/bin/sh
# Nothing is left.
cd "$(dirname "$0")/../../.." || exit 1

if ! crds=$(kubectl get crd -o name 2>&1); then
	echo "the cluster does not answer: $crds"
	exit 1
fi
if echo "$crds" | grep -q '/ats\.cnat'; then
	echo "the API server still knows Ats: delete them, and delete -f config/crd"
	exit 1
fi
for file in ways.log fence.log cost.log; do
	if [ -e "$file" ]; then
		echo "$file is still there: rm $file"
		exit 1
	fi
done
echo done
