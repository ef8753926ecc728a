#!/bin/sh
# Step 6: what the lesson made is gone.
cd "$(dirname "$0")/../.." || exit 1

if ! output=$(./resource-builder namespaces 2>&1); then
	echo "resource-builder does not list: $output"
	exit 1
fi
if echo "$output" | grep -q '^demo '; then
	echo "the namespace demo is still there: kubectl delete -f lesson/demo.yaml"
	exit 1
fi
if kubectl get crd boats.harbour.example.com >/dev/null 2>&1; then
	echo "the server still knows boats: kubectl delete -f harbour"
	exit 1
fi
if [ -e cache ] || [ -e fleet.yaml ]; then
	echo "files of the lesson are still there: rm -r cache fleet.yaml"
	exit 1
fi
echo done
