#!/bin/sh
# Step 6: what the lesson made is gone.
cd "$(dirname "$0")/../../.." || exit 1

if ! pods=$(kubectl get pods --no-headers 2>&1); then
	echo "the cluster does not answer: $pods"
	exit 1
fi
if echo "$pods" | grep -q "^bell "; then
	echo "the pod bell is still there: kubectl delete pod bell --now"
	exit 1
fi
if kubectl get namespace harbour > /dev/null 2>&1; then
	echo "the namespace harbour is still there: kubectl delete namespace harbour"
	exit 1
fi
for file in attempt hold broken *.log; do
	if [ -e "$file" ]; then
		echo "$file is still there: rm -r $file"
		exit 1
	fi
done
echo done
