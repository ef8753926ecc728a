#!/bin/sh
# Without the watch, the tests of drift fail, and those of the happy path pass.
cd "$(dirname "$0")/../../../.." || exit 1

if grep -q -- '--- PASS: TestDrift/' unwatched.log 2>/dev/null || ! grep -q -- '--- FAIL: TestDrift/' unwatched.log 2>/dev/null; then
	echo "unwatched.log does not show that the tests of drift fail: apply lesson/unwatched.patch, and run them"
	exit 1
fi
if ! grep -q -- '--- PASS: TestHappyPath ' unwatched.log; then
	echo "unwatched.log does not show that the happy path passes: run TestHappyPath, too"
	exit 1
fi
if ! grep -q 'Watches(&corev1.ConfigMap{}' settings/settingslayer_controller.go; then
	echo "the watch is still missing: git -C .. apply -R 05-crd-operator/lesson/unwatched.patch"
	exit 1
fi
echo done
