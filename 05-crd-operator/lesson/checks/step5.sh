#!/bin/sh
# Step 5: the second operator has run a line of shell.
cd "$(dirname "$0")/../.." || exit 1

if [ "$(kubectl logs framed-pod 2>/dev/null)" != "IT'S YAY" ]; then
	echo "the pod framed-pod has not said IT'S YAY: create the At framed while controllerruntime runs"
	exit 1
fi
if ! grep -q 'wrote the status.*"framed"' controllerruntime.log 2>/dev/null; then
	echo "controllerruntime.log tells nothing of framed: it was another operator that ran it"
	exit 1
fi
echo done
