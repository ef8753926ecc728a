#!/bin/sh
# Step 1: eddystone is registered, and has the finalizer.
if [ "$(kubectl get lighthouse eddystone -o jsonpath='{.metadata.finalizers[0]}' 2>/dev/null)" != coast.example.com/light-list ]; then
	echo "the Lighthouse eddystone has no finalizer yet: start the office and the operator, and apply it"
	exit 1
fi
if [ -z "$(kubectl get lighthouse eddystone -o jsonpath='{.status.number}')" ]; then
	echo "the Lighthouse eddystone has no number yet: wait until the office has given it one"
	exit 1
fi
echo done
