#!/bin/sh
# Step 2: the loop missed a change, did not repeat a failure, and left an Ingress behind.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -qsx 'got: ADDED web' observe-ends.log; then
	echo "observe-ends.log has no line about web yet: run observe-loop.sh for a few seconds"
	exit 1
fi
if grep -q 'MODIFIED' observe-ends.log; then
	echo "observe-ends.log has a change: label the Service after the loop has ended"
	exit 1
fi
if [ ! -s observe-attempts.log ]; then
	echo "observe-attempts.log is not there yet: run observe-loop.sh with the command ./observe-fails.sh"
	exit 1
fi
if ! kubectl --namespace=quay get ingress shop >/dev/null 2>&1; then
	echo "there is no Ingress shop in the namespace quay: run observe-loop.sh with the command ./observe-ingress.sh while there is a Service shop"
	exit 1
fi
if kubectl --namespace=quay get service shop >/dev/null 2>&1; then
	echo "the Service shop is still there: delete it while the loop is not running"
	exit 1
fi
echo done
