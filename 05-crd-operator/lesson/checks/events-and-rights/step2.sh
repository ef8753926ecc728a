#!/bin/sh
# The operator ran as an account of its own, which was refused what it does not need.
cd "$(dirname "$0")/../../.." || exit 1

account=system:serviceaccount:default:cnat
if [ "$(kubectl auth can-i create pods --as="$account" 2>/dev/null)" != yes ]; then
	echo "the service account cnat may not create pods yet: bind it to the role controllerruntime"
	exit 1
fi
if kubectl auth can-i delete pods --as="$account" >/dev/null 2>&1; then
	echo "the service account cnat may delete pods, which it does not need: kubectl apply -f config/rbac/controllerruntime.yaml"
	exit 1
fi
if [ "$(grep -c "ValidatingAdmissionPolicy 'cnat-pods'" forbidden.log 2>/dev/null)" != 2 ]; then
	echo "forbidden.log does not show two refusals of the policy yet: annotate the pod allowed-pod and remove its finalizers, as the account"
	exit 1
fi
if ! grep -q 'wrote the status.*"allowed".*DONE' account.log 2>/dev/null; then
	echo "account.log does not show yet that the At allowed is DONE: run controllerruntime with account.kubeconfig"
	exit 1
fi
if kubectl get pod allowed-pod >/dev/null 2>&1; then
	echo "the pod allowed-pod is still there: remove the finalizer example.com/keep"
	exit 1
fi
echo done
