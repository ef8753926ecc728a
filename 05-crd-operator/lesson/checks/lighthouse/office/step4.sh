#!/bin/sh
# Step 4: the operator was killed before the answer, and paid once.
cd "$(dirname "$0")/../../../.." || exit 1

if [ "$(cat killed.log 2>/dev/null)" != registered ]; then
	echo "killed.log does not show one registration: kill the operator while it waits for the answer, and start it again"
	exit 1
fi
if ! kubectl get lighthouse eddystone -o jsonpath='{.status.conditions[?(@.type=="Ready")].status}' 2>/dev/null | grep -q True; then
	echo "eddystone is not Ready: start bin/operator again"
	exit 1
fi
echo done
