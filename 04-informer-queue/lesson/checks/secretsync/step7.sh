#!/bin/sh
# What the lesson made is gone.
cd "$(dirname "$0")/../../.." || exit 1

if ! namespaces=$(kubectl get namespaces 2>&1); then
	echo "the cluster does not answer: $namespaces"
	exit 1
fi
for name in secretsync harbour coast quay; do
	if echo "$namespaces" | grep -q "^$name "; then
		echo "the namespace $name is still there: kubectl delete namespace $name"
		exit 1
	fi
done
if kubectl get clusterrole secretsync >/dev/null 2>&1; then
	echo "the cluster role is still there: kubectl delete -f secretsync/rbac.yaml"
	exit 1
fi
for file in secretsync.log keys.log killed.log restarted.log down.log stale.log requests.log foreign.log; do
	if [ -e "$file" ]; then
		echo "$file is still there: rm $file"
		exit 1
	fi
done
echo done
