#!/bin/sh
# Step 1: the API server knows both kinds, and the wrong object was refused.
cd "$(dirname "$0")/../.." || exit 1

for crd in ats.cnat.programming-kubernetes.info settingslayers.settings.example.com; do
	if ! kubectl get crd "$crd" >/dev/null 2>&1; then
		echo "the API server does not know $crd yet: kubectl apply -f config/crd"
		exit 1
	fi
done
if kubectl get at wrong >/dev/null 2>&1; then
	echo "there is an At named wrong, which should have been refused: delete it, and apply config/crd again"
	exit 1
fi
echo done
