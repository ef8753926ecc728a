#!/bin/sh
# Nothing is left of this part.
cd "$(dirname "$0")/../../.." || exit 1

if ! left=$(kubectl get namespaces,clusterroles -o name 2>&1); then
	echo "the cluster doesn't answer: $left"
	exit 1
fi
if echo "$left" | grep -E 'namespace-labels'; then
	echo "this is still there: helm uninstall namespace-labels, and delete the namespace"
	exit 1
fi
for left in ../bin/mine bin soak.log missing.log; do
	if [ -e "$left" ]; then
		echo "$left is left: remove it"
		exit 1
	fi
done
echo done
