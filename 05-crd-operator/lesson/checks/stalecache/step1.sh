#!/bin/sh
# Six ways to read were tried with a frozen cache.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q '^--- PASS: TestWithAFrozenCache' ways.log 2>/dev/null; then
	echo "ways.log does not show that TestWithAFrozenCache passes: run go test as the step does"
	exit 1
fi
echo done
