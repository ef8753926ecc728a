#!/bin/sh
# Step 4: a Lighthouse has waited for the office, and is gone.
cd "$(dirname "$0")/../../../.." || exit 1

if ! grep -q 'annotate it with' down.log 2>/dev/null; then
	echo "down.log doesn't show a Lighthouse that waits for the office yet: delete it while the office is down, and print its message"
	exit 1
fi
if kubectl get lighthouse eddystone >/dev/null 2>&1; then
	echo "the Lighthouse is still there: let the office be up again, and the operator run"
	exit 1
fi
echo done
