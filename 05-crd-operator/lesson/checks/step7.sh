#!/bin/sh
# Step 7: the ConfigMap is what the layers say, and the operator without the watch
# failed at drift, and at nothing else.
cd "$(dirname "$0")/../.." || exit 1

if [ "$(kubectl get configmap settings -o jsonpath='{.data.colour}{.data.log-level}' 2>/dev/null)" != greendebug ]; then
	echo "the ConfigMap settings is not what the layers come to: apply config/samples/settings.yaml, and run settings"
	exit 1
fi
if ! grep -q -- '--- FAIL: TestDrift' unwatched.log 2>/dev/null; then
	echo "unwatched.log shows no test about drift that fails: apply lesson/unwatched.patch, and run the tests"
	exit 1
fi
echo done
