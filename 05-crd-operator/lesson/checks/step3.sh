#!/bin/sh
# Step 3: the sample of the book has gone through its phases, and said YAY.
cd "$(dirname "$0")/../.." || exit 1

for phase in PENDING RUNNING DONE; do
	if ! grep -q "$phase" phases.log 2>/dev/null; then
		echo "phases.log does not show $phase yet: watch example-at while the operator runs"
		exit 1
	fi
done
if [ "$(kubectl logs example-at-pod 2>/dev/null)" != YAY ]; then
	echo "the pod example-at-pod has not said YAY"
	exit 1
fi
echo done
