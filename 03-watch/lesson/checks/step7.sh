#!/bin/sh
# Step 7: the runtime was printed again and again, and what it cost.
cd "$(dirname "$0")/../.." || exit 1

if ! grep -q '^Pods in namespace default have been running for' runtime.log 2>/dev/null; then
	echo "runtime.log does not have how long the pods have been running yet: run watch runtime"
	exit 1
fi
if [ "$(grep -c '^# so far: ' runtime.log)" -lt 5 ]; then
	echo "runtime.log does not show the cost of five events yet: label the pod while watch runtime runs"
	exit 1
fi
echo done
