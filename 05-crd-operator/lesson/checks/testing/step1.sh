#!/bin/sh
# Step 1: the tests of the decision pass, with and without Wake in Reconcile.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q '^ok.*lifecycle' lifecycle.log 2>/dev/null; then
	echo "lifecycle.log does not show that the tests pass: go test -v ./lifecycle > lifecycle.log"
	exit 1
fi
if ! grep -q '^ok.*lifecycle' nowake.log 2>/dev/null; then
	echo "nowake.log does not show the tests with attempt/nowake.json: run them with -overlay"
	exit 1
fi
echo done
