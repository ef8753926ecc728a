#!/bin/sh
# Step 3: eddystone has a number, and the operator has not polled for it.
cd "$(dirname "$0")/../../../.." || exit 1

if [ -z "$(kubectl get lighthouse eddystone -o jsonpath='{.status.number}' 2>/dev/null)" ]; then
	echo "eddystone has no number yet: start bin/operator, and apply its sample"
	exit 1
fi
if ! grep -q 'GET /lights/UID 404' waited.log 2>/dev/null; then
	echo "waited.log does not show what the operator has asked the office for: print its calls"
	exit 1
fi
echo done
