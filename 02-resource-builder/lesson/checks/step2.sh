#!/bin/sh
# Step 2: there is a copy of first/ that lists what the user names.
cd "$(dirname "$0")/../.." || exit 1

if [ ! -x any ]; then
	echo "the copy is not built yet: make attempt/main.go, then go build -o any ./attempt"
	exit 1
fi
if ! output=$(./any ns/default 2>&1); then
	echo "any does not take its arguments yet: $output"
	exit 1
fi
echo done
