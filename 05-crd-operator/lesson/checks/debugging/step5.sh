#!/bin/sh
# Step 5: the debugger printed the messages that differ.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep '^"the command will be run in' dlv.log 2>/dev/null | sort -u | sed -n 3p | grep -q .; then
	echo "dlv.log does not have the messages of two writes: run bin/hot in dlv with lesson/messages.dlv"
	exit 1
fi
echo done
