#!/bin/sh
# Step 6: a token that can't be sent is in no log.
cd "$(dirname "$0")/../../../.." || exit 1

if ! grep -q 'invalid header' leak.log 2>/dev/null; then
	echo "leak.log doesn't show that the token can't be sent: put one with a line break into light-list, and change eddystone"
	exit 1
fi
echo done
