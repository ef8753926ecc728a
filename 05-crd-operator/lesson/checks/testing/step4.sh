#!/bin/sh
# Step 4: the API server has refused what the fake accepted, and the wrong key was found.
cd "$(dirname "$0")/../../.." || exit 1

for test in TestEnvtest TestWhatTheAPIServerAnswers TestNothingHappensToAPod; do
	if ! grep -q -- "--- PASS: $test" envtest.log 2>/dev/null; then
		echo "envtest.log does not show that $test passes: run it with KUBEBUILDER_ASSETS set"
		exit 1
	fi
done
for line in 'PASS: TestFake' 'PASS: TestSynctest' 'FAIL: TestEnvtest'; do
	if ! grep -q -- "--- $line" wrongkey.log 2>/dev/null; then
		echo "wrongkey.log does not show $line: run the three tests with attempt/wrongkey.json"
		exit 1
	fi
done
echo done
