#!/bin/sh
# The policy has refused what the webhook refused, and the webhook is gone.
cd "$(dirname "$0")/../../.." || exit 1

if kubectl get validatingwebhookconfiguration cnat-closed-namespaces >/dev/null 2>&1; then
	echo "the API server still calls the webhook: kubectl delete validatingwebhookconfiguration cnat-closed-namespaces"
	exit 1
fi
if ! grep -q 'ValidatingAdmissionPolicy.*stocktaking' policy.log 2>/dev/null; then
	echo "policy.log does not show that the policy refused an At: apply config/webhook/policy.yaml, and create one in harbour"
	exit 1
fi
if ! kubectl -n harbour get at example-at >/dev/null 2>&1; then
	echo "there is no At in the namespace harbour: remove its annotation, and create one"
	exit 1
fi
echo done
