#!/bin/sh
# Step 1: first/ has printed the pod and a change to it, and a watch by hand has received one.
cd "$(dirname "$0")/../.." || exit 1

for program in watch naive; do
	if [ ! -x "$program" ]; then
		echo "$program isn't built yet: go build -o watch . && go build -o naive ./first"
		exit 1
	fi
done
for type in ADDED MODIFIED; do
	if ! grep -q "^$type pod bell in namespace default" naive.log 2>/dev/null; then
		echo "naive.log has no line that begins with \"$type pod bell\" yet: run ./naive, and label the pod meanwhile"
		exit 1
	fi
done
if ! grep -q '"type":"MODIFIED".*"name":"bell"' events.json 2>/dev/null; then
	echo "events.json has no change to the pod bell yet: open the watch, and label the pod while it is open"
	exit 1
fi
echo done
