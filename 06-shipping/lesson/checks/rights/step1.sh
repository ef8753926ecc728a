#!/bin/sh
# With the rights of the manager, a pod got the token of another service account.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q '^system:serviceaccount:kube-system:' stolen.log 2>/dev/null; then
	echo "stolen.log does not name a service account of kube-system yet: create the pod thief as the manager, and let the API server review its token"
	exit 1
fi
if kubectl get pod thief -n kube-system >/dev/null 2>&1; then
	echo "the pod thief is still there: kubectl delete pod thief -n kube-system"
	exit 1
fi
echo done
