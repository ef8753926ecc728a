#!/bin/sh
# Step 4: a field that was given away is one; one that was handed over stays.
cd "$(dirname "$0")/../../../.." || exit 1

if ! grep -q '^alone: 1$' alone.log 2>/dev/null; then
	echo "alone.log does not show what became of the replicas: apply the Deployment buoy without them"
	exit 1
fi
if ! grep -q '^handed over: 3$' handed-over.log 2>/dev/null; then
	echo "handed-over.log does not show that the replicas stayed: let the autoscaler apply them before you leave them out"
	exit 1
fi
echo done
