#!/bin/sh
# An At slipped into the closed namespace, and another create waited for the timeout.
cd "$(dirname "$0")/../../.." || exit 1

if ! kubectl -n harbour get at example-at >/dev/null 2>&1; then
	echo "there is no At in the namespace harbour yet: set failurePolicy to Ignore while the webhook is down, and create one"
	exit 1
fi
if ! grep -q 'deadline exceeded' timeout.log 2>/dev/null; then
	echo "timeout.log shows no deadline that was exceeded: stop the webhook with kill -STOP, and create an At"
	exit 1
fi
echo done
