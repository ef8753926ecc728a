#!/bin/sh
# Step 1: the programs are built, and first/ has printed a line for each event.
cd "$(dirname "$0")/../../.." || exit 1

for program in first podlog podruntime; do
	if [ ! -x "bin/$program" ]; then
		echo "bin/$program is not built yet: go build -o bin/ ./first ./cmd/podlog ./cmd/podruntime"
		exit 1
	fi
done
if [ "$(grep -cs "^Pods in namespace default" first.log)" -lt 3 ] 2>/dev/null || [ ! -f first.log ]; then
	echo "first.log does not have three lines of default yet: run ./bin/first, and let a pod come and go"
	exit 1
fi
echo done
