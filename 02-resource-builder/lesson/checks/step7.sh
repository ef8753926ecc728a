#!/bin/sh
# Step 7: what the lesson made is gone.
cd "$(dirname "$0")/../.." || exit 1

if kubectl get crd boats.harbour.example.com >/dev/null 2>&1; then
	echo "the server still has boats: kubectl delete -f harbour"
	exit 1
fi
for name in cache attempt fleet.yaml; do
	if [ -e "$name" ]; then
		echo "$name is still there: rm -r $name"
		exit 1
	fi
done
echo done
