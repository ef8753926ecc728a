#!/bin/sh
# Step 3: the release was upgraded while an At waited, and rolled back; v0.8.0 was refused.
cd "$(dirname "$0")/../../.." || exit 1

if [ "$(kubectl get at meanwhile -o jsonpath='{.status.phase}' 2>/dev/null)" != DONE ]; then
	echo "the At meanwhile is not DONE: create it before the upgrade"
	exit 1
fi
if ! grep -q '^2 .*cnat-0.6.1' history.log 2>/dev/null || ! grep -q '^3 .*Rollback to 1' history.log; then
	echo "history.log does not show an upgrade to 0.6.1 and a rollback: bin/helm upgrade, bin/helm rollback, bin/helm history"
	exit 1
fi
if ! grep -q 'more than one minor version away' too-far.log 2>/dev/null; then
	echo "too-far.log does not show that v0.8.0 is refused: upgrade to bin/cnat-0.8.0.tgz"
	exit 1
fi
echo done
