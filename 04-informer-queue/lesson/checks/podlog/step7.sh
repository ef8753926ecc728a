#!/bin/sh
# Step 7: without Done a key was processed once, and with it again.
cd "$(dirname "$0")/../../.." || exit 1

for program in stuck first; do
	if ! grep -q '^Pods in namespace harbour' "done-$program.log" 2>/dev/null; then
		echo "done-$program.log has no line of harbour yet: run a pod in harbour while ./bin/$program runs"
		exit 1
	fi
done
if [ "$(grep -c '^Pods in namespace default' done-stuck.log)" -ne 1 ]; then
	echo "done-stuck.log has more than one line of default: take Done out of attempt/main.go, and build it again"
	exit 1
fi
if [ "$(grep -c '^Pods in namespace default' done-first.log)" -lt 2 ]; then
	echo "done-first.log has only one line of default: label the pod bell while ./bin/first runs"
	exit 1
fi
echo done
