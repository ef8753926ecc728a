#!/bin/sh
# Step 4: the audit log was compared with the rules.
cd "$(dirname "$0")/../.." || exit 1

if ! grep -q '^Granted and used' permissions.log 2>/dev/null; then
	echo "permissions.log does not tell what was used: bin/permissions ... | tee permissions.log"
	exit 1
fi
echo done
