#!/bin/sh
# Step 2: eddystone was withdrawn.
cd "$(dirname "$0")/../../../.." || exit 1

if ! grep -q withdrawn withdrawn.log 2>/dev/null; then
	echo "withdrawn.log doesn't show a withdrawal yet: delete the Lighthouse while the operator runs, and print the books of the office"
	exit 1
fi
echo done
