#!/bin/sh
# Step 2: without Done a key was processed once, and another one all the same.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q '^Pods in namespace harbour' stuck.log 2>/dev/null; then
	echo "stuck.log has no line of harbour yet: run a pod in harbour while ./bin/stuck runs"
	exit 1
fi
if [ "$(grep -c '^Pods in namespace default' stuck.log)" -ne 1 ]; then
	echo "stuck.log has more than one line of default: take Done out of attempt/main.go, and build it again"
	exit 1
fi
echo done
