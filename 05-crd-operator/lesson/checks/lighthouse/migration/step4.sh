#!/bin/sh
# v1alpha1 was not served, and is again, so the operator has caught up.
cd "$(dirname "$0")/../../../.." || exit 1

if ! grep -q 'could not find the requested resource' operator.log 2>/dev/null; then
	echo "operator.log does not show that v1alpha1 was not served: serve false"
	exit 1
fi
if [ "$(kubectl get deployment eddystone -o jsonpath='{.spec.replicas}' 2>/dev/null)" != 3 ]; then
	echo "eddystone has no three lamps yet: patch it, and serve true"
	exit 1
fi
echo done
