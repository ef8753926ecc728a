#!/bin/sh
# Step 1: the program is built, and a watch by hand has heard of a pod.
cd "$(dirname "$0")/../.." || exit 1

if [ ! -x watch ]; then
	echo "watch is not built yet: go build -o watch ."
	exit 1
fi
if ! grep -q '"type":"ADDED".*"name":"bell"' heard.json 2>/dev/null; then
	echo "heard.json does not have the pod bell yet: open the watch, and run the pod while it is open"
	exit 1
fi
echo done
