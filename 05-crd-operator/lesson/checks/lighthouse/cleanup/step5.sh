#!/bin/sh
# Step 5: a Lighthouse was let go, and its registration has stayed.
cd "$(dirname "$0")/../../../.." || exit 1

if ! grep -q '"number"' abandoned.log 2>/dev/null; then
	echo "abandoned.log doesn't show a registration that has stayed yet: annotate the Lighthouse while the office is down, and print the books"
	exit 1
fi
if kubectl get lighthouse eddystone >/dev/null 2>&1; then
	echo "the Lighthouse is still there: annotate it as its message says, and let the operator run"
	exit 1
fi
echo done
