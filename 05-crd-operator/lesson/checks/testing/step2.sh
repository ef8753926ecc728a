#!/bin/sh
# Step 2: the fake client has accepted what an API server refuses.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q -- '--- PASS: TestWhatTheFakeClientAnswers/schema' fake.log 2>/dev/null; then
	echo "fake.log does not show the answers of the fake client: run TestWhatTheFakeClientAnswers"
	exit 1
fi
echo done
