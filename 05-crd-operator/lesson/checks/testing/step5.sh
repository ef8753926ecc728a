#!/bin/sh
# Step 5: a pod has run in the cluster, and the missing live read was found without one.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q '^YAY$' yay.log 2>/dev/null; then
	echo "yay.log does not show the output of the pod: run the operator, and apply config/samples/at.yaml"
	exit 1
fi
if [ "$(kubectl get at example-at -o jsonpath='{.status.phase}' 2>/dev/null)" != DONE ]; then
	echo "example-at is not DONE: run bin/unsafe, and apply config/samples/at.yaml again"
	exit 1
fi
if ! grep -q -- '--- FAIL: TestWhatCannotBeUndoneIsDecidedOnALiveRead' unsafe.log 2>/dev/null; then
	echo "unsafe.log does not show the rule that is broken: run the tests of lifecycle with attempt/unsafe.json"
	exit 1
fi
echo done
