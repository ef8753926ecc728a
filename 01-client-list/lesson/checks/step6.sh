#!/bin/sh
# Step 6: what the lesson made is gone.
cd "$(dirname "$0")/../.." || exit 1

if ! list=$(./client-list 2>&1); then
	echo "client-list does not list: $list"
	exit 1
fi
for name in harbour page-1 page-2 page-3; do
	if echo "$list" | grep -qx "$name"; then
		echo "the namespace $name is still there: kubectl delete namespace $name"
		exit 1
	fi
done
if [ -e reader.kubeconfig ]; then
	echo "reader.kubeconfig is still there: rm reader.kubeconfig"
	exit 1
fi
if kubectl get clusterrole namespace-lister >/dev/null 2>&1; then
	echo "the cluster role is still there: kubectl delete clusterrole namespace-lister"
	exit 1
fi
echo done
