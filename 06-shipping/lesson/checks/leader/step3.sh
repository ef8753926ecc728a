#!/bin/sh
# A standby has taken over from a leader that was killed.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q 'replica-2 leads after' killed.log 2>/dev/null; then
	echo "killed.log does not show yet that replica-2 has taken over: kill -9 the leader"
	exit 1
fi
echo done
