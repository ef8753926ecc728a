#!/bin/sh
# The manager has finished a write after it was told to stop.
cd "$(dirname "$0")/../../.." || exit 1

if ! sed -n '/Shutdown signal received.*controllerruntime/,$p' graceful.log 2>/dev/null | grep -q 'wrote the status.*"held".*"RUNNING"'; then
	echo "graceful.log does not show yet that RUNNING was written after the signal: stop the manager while its request waits (lab slow 1h), with kill and not with kill -9"
	exit 1
fi
echo done
