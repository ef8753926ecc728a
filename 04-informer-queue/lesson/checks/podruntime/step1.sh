#!/bin/sh
# Step 1: both programs are built, and first/ printed the total of three pods.
cd "$(dirname "$0")/../../.." || exit 1

for program in first podruntime; do
	if [ ! -x bin/$program ]; then
		echo "bin/$program is not built yet: go build -o bin/ ./first ./cmd/podruntime"
		exit 1
	fi
done
if ! grep -qs '^Pods in namespace harbour have been running for' podruntime-first.log; then
	echo "podruntime-first.log has no line about harbour yet: apply lesson/demo.yaml, and run bin/first"
	exit 1
fi
echo done
