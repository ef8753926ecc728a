#!/bin/sh
# Step 1: eddystone was registered once its Secret was there.
if ! kubectl get secret light-list >/dev/null 2>&1; then
	echo "there is no Secret light-list yet: create it"
	exit 1
fi
if [ -z "$(kubectl get lighthouse eddystone -o jsonpath='{.status.number}' 2>/dev/null)" ]; then
	echo "the Lighthouse eddystone has no number yet: start the office and the operator, and wait until it has one"
	exit 1
fi
echo done
