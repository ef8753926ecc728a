#!/bin/sh
# The copies of seal were created, updated and deleted while secretsync ran.
cd "$(dirname "$0")/../../.." || exit 1

for action in created updated deleted; do
	for copy in harbour/seal coast/seal; do
		if ! grep -q "^$action $copy:" changes.log 2>/dev/null; then
			echo "changes.log has no line \"$action $copy\" yet: change the source seal while secretsync runs"
			exit 1
		fi
	done
done
echo done
