#!/bin/sh
# A table that was dropped was restored.
cd "$(dirname "$0")/../../../.." || exit 1

if [ "$(wc -l <accounts.log 2>/dev/null || echo 0)" -ne 3 ]; then
	echo "accounts.log does not have three accounts yet: restore the cluster to the moment before the table was dropped"
	exit 1
fi
echo done
