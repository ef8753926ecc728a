#!/bin/sh
# Step 2: first/ has taken the At of the book through its phases.
cd "$(dirname "$0")/../../.." || exit 1

if [ ! -x bin/first ]; then
	echo "bin/first is not built yet: go build -o bin/first ./first"
	exit 1
fi
for phase in PENDING RUNNING DONE; do
	if ! grep -q "set the phase.*$phase" first.log 2>/dev/null; then
		echo "first.log does not have the phase $phase yet: run ./bin/first"
		exit 1
	fi
done
if [ "$(kubectl logs example-at-pod 2>/dev/null)" != YAY ]; then
	echo "the pod example-at-pod has not printed YAY"
	exit 1
fi
echo done
