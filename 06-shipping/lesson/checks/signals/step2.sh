#!/bin/sh
# The condition of the At says why it doesn't run.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q '^Scheduled=False CreationRefused' condition.log 2>/dev/null; then
	echo "condition.log doesn't show a condition Scheduled with the reason CreationRefused yet: create the quota before the At, and wait for the event"
	exit 1
fi
echo done
