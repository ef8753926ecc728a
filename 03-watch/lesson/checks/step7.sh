#!/bin/sh
# Step 7: what the lesson made is gone.
cd "$(dirname "$0")/../.." || exit 1

if ! pods=$(kubectl get pods --no-headers 2>&1); then
	echo "the cluster doesn't answer: $pods"
	exit 1
fi
for name in bell buoy crane; do
	if echo "$pods" | grep -q "^$name "; then
		echo "the pod $name is still there: kubectl delete pod $name --now"
		exit 1
	fi
done
for file in *.log events.json attempt; do
	if [ -e "$file" ]; then
		echo "$file is still there: rm -r $file"
		exit 1
	fi
done
echo done
