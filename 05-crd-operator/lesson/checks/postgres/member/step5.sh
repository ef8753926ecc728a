#!/bin/sh
# PostgreSQL has ended with its agent.
cd "$(dirname "$0")/../../../.." || exit 1

if ! grep -q 'PostgreSQL has ended' agent.log 2>/dev/null; then
	echo "agent.log does not show that PostgreSQL has ended with its agent yet: kill the agent of one-1"
	exit 1
fi
if [ "$(kubectl get pgc one -o jsonpath='{.status.phase}' 2>/dev/null)" != "Running" ]; then
	echo "the cluster one is not Running yet: see kubectl describe pgc one"
	exit 1
fi
echo done
