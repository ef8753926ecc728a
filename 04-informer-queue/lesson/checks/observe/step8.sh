#!/bin/sh
# Step 8: what this part made is gone.
cd "$(dirname "$0")/../../.." || exit 1

if ! namespace=$(kubectl get namespace quay --ignore-not-found --output='jsonpath={.status.phase}' 2>&1); then
	echo "the cluster does not answer: $namespace"
	exit 1
fi
if [ "$namespace" = Active ]; then
	echo "the namespace quay is still there: kubectl delete namespace quay"
	exit 1
fi
for file in observe-*.log observe-*.sh; do
	if [ -e "$file" ]; then
		echo "$file is still there: rm $file"
		exit 1
	fi
done
echo done
