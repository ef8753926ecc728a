#!/bin/sh
# Step 4: what failed in a handler was lost, and what failed in a worker was tried again.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q "^failed:" eager.log 2>/dev/null; then
	echo "eager.log shows no failure yet: touch broken, and label bell, while ./bin/eager runs"
	exit 1
fi
if ! sed -n '/trying again/,$p' patient.log 2>/dev/null | grep -q '^Pods'; then
	echo "patient.log has no sum after its failure yet: remove the file broken, and wait"
	exit 1
fi
if sed -n '/failed/,$p' eager.log | grep -q '^Pods'; then
	echo "eager.log has a sum after its failure: something else has changed a pod, so run both again"
	exit 1
fi
echo done
