#!/bin/sh
# Step 6: what the lesson made is gone.
cd "$(dirname "$0")/../../.." || exit 1

if ! pods=$(kubectl get pods --no-headers 2>&1); then
	echo "the cluster does not answer: $pods"
	exit 1
fi
for name in bell buoy; do
	if echo "$pods" | grep -q "^$name "; then
		echo "the pod $name is still there: kubectl delete pod $name --now"
		exit 1
	fi
done
for file in attempt *.log; do
	if [ -e "$file" ]; then
		echo "$file is still there: rm -r $file"
		exit 1
	fi
done
echo done
