#!/bin/sh
# Step 7: what the lesson made is gone.
cd "$(dirname "$0")/../.." || exit 1

if ! list=$(./client-list 2>&1); then
	echo "client-list does not list: $list"
	exit 1
fi
if echo "$list" | grep -q '^harbour$\|^page-'; then
	echo "namespaces of the lesson are still there: kubectl delete namespace harbour; kubectl delete namespace -l lesson=pages"
	exit 1
fi
if kubectl get clusterrole namespace-lister >/dev/null 2>&1; then
	echo "the cluster role is still there: kubectl delete clusterrole namespace-lister"
	exit 1
fi
for name in closed reader stranger; do
	if [ -e "$name.kubeconfig" ]; then
		echo "$name.kubeconfig is still there: rm $name.kubeconfig"
		exit 1
	fi
done
echo done
