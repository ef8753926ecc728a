#!/bin/sh
# Step 3: the rights of the installed manager were compared with the audit log.
cd "$(dirname "$0")/../../.." || exit 1

if [ "$(kubectl get at example-at -o jsonpath='{.status.phase}' 2>/dev/null)" != DONE ]; then
	echo "the At example-at is not DONE: install the manager, and apply config/samples/at.yaml"
	exit 1
fi
if ! grep -q 'patch *configmaps "settings"  *[0-9]' permissions.log 2>/dev/null; then
	echo "permissions.log does not show that the manager patched the ConfigMap settings: delete it, and run bin/permissions"
	exit 1
fi
echo done
