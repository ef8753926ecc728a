#!/bin/sh
# Step 2: the API server answers a plain HTTP request.
if ! kubectl get --raw /api/v1/namespaces/default --request-timeout=10s >/dev/null 2>&1; then
	echo "the API server does not answer: see what it says to kubectl get --raw /api/v1/namespaces/default"
	exit 1
fi
echo done
