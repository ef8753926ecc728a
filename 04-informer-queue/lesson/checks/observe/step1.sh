#!/bin/sh
# Step 1: a loop in the shell heard of a Service that came, changed and went.
cd "$(dirname "$0")/../../.." || exit 1

if [ ! -x bin/observe ]; then
	echo "bin/observe is not built yet: go -C observe build -o ../bin/ ."
	exit 1
fi
for line in "ADDED web" "ADDED shop" "MODIFIED web" "DELETED shop"; do
	if ! grep -qsx "got: $line" observe-plain.log; then
		echo "observe-plain.log has no line \"got: $line\" yet: make the change while observe-loop.sh runs"
		exit 1
	fi
done
echo done
