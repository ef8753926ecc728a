#!/bin/sh
# The agent was asked.
cd "$(dirname "$0")/../../../.." || exit 1

if ! grep -q 'Forwarding from' forward.log 2>/dev/null; then
	echo "forward.log does not show a connection to the agent yet: kubectl port-forward pod/one-1 :status > forward.log, and read /status at the address in it"
	exit 1
fi
echo done
