#!/bin/sh
# Step 2: the map function was tested.
cd "$(dirname "$0")/../../../.." || exit 1

if ! grep -q -- '--- PASS: TestASecretBringsBack' referrers.log 2>/dev/null; then
	echo "referrers.log doesn't show that the test of the map function passes: run go test as the step does"
	exit 1
fi
echo done
