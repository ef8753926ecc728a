#!/bin/sh
# A standby has taken over from a leader that was cut off, and that one has ended.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q 'error: leader election lost' one.log 2>/dev/null || ! grep -q 'Successfully acquired lease' two.log; then
	echo "one.log does not show yet that a leader has lost the Lease to replica-2: lab run the leader, and lab slow 1h"
	exit 1
fi
echo done
