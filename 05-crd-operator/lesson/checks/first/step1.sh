#!/bin/sh
# Step 1: the API server knows both kinds, and stores the At of the book.
cd "$(dirname "$0")/../../.." || exit 1

for crd in ats.cnat.programming-kubernetes.info settingslayers.settings.example.com; do
	if ! kubectl get crd "$crd" >/dev/null 2>&1; then
		echo "the API server does not know $crd yet: kubectl apply -f config/crd"
		exit 1
	fi
done
if ! kubectl get at example-at >/dev/null 2>&1; then
	echo "there is no At example-at yet: kubectl apply -f config/samples/at.yaml"
	exit 1
fi
echo done
