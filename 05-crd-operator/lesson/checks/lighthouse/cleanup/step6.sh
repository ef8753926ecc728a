#!/bin/sh
# Step 6: a namespace has waited for a finalizer, and is gone.
cd "$(dirname "$0")/../../../.." || exit 1

if ! grep -q 'coast.example.com/light-list' namespace.log 2>/dev/null; then
	echo "namespace.log doesn't name the finalizer yet: delete the namespace while the office is down, and print its conditions"
	exit 1
fi
if kubectl get namespace harbour >/dev/null 2>&1; then
	echo "the namespace harbour is still there: annotate its Lighthouse, and let the operator run"
	exit 1
fi
echo done
