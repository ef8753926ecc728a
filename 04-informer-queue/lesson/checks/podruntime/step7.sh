#!/bin/sh
# Step 7: what this part made is gone.
cd "$(dirname "$0")/../../.." || exit 1

if ! namespace=$(kubectl get namespace harbour --ignore-not-found --output='jsonpath={.status.phase}' 2>&1); then
	echo "the cluster does not answer: $namespace"
	exit 1
fi
if [ "$namespace" = Active ]; then
	echo "the namespace harbour is still there: kubectl delete -f lesson/demo.yaml"
	exit 1
fi
if kubectl get pod tide >/dev/null 2>&1; then
	echo "the pod tide is still there: kubectl delete pod tide --now"
	exit 1
fi
for file in podruntime-*.log; do
	if [ -e "$file" ]; then
		echo "$file is still there: rm $file"
		exit 1
	fi
done
echo done
