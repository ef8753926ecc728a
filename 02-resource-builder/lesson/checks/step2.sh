#!/bin/sh
# Step 2: the demo workload is there, and the program sees that it runs.
cd "$(dirname "$0")/../.." || exit 1

if ! output=$(./resource-builder -f lesson/demo.yaml 2>&1); then
	echo "not all of lesson/demo.yaml is on the server: kubectl apply -f lesson/demo.yaml ($output)" | head -n 1
	exit 1
fi
if ! echo "$output" | grep -q '^web in namespace demo is currently Available, with 2 of 2 replicas'; then
	echo "the Deployment web is not available yet: kubectl -n demo rollout status deployment/web"
	exit 1
fi
if ! echo "$output" | grep -q '^alone in namespace demo is currently Running, with 1 of 1'; then
	echo "the pod alone is not ready yet: kubectl -n demo wait --for=condition=Ready pod/alone"
	exit 1
fi
echo done
