#!/bin/sh
# A table was wrong once, and then right.
cd "$(dirname "$0")/../../../.." || exit 1

if ! grep -q -- '--- FAIL: TestMine/the_primary_and_the_standby_are' mine.log 2>/dev/null; then
	echo "mine.log does not show a case that fails yet: write mine_test.go, and run it"
	exit 1
fi
if ! tail -n 1 mine.log | grep -q '^ok'; then
	echo "mine.log does not end with a test that passes: put the second case right, and run it again"
	exit 1
fi
echo done
