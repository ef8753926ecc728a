#!/bin/sh
# What was changed while secretsync was down was put right.
cd "$(dirname "$0")/../../.." || exit 1

for line in "updated harbour/db" "deleted coast/db" "created harbour/seal" "deleted harbour/crate-1" "deleted coast/crate-1"; do
	if ! grep -q "^$line:" down.log 2>/dev/null; then
		echo "down.log has no line \"$line\" yet: make the changes while secretsync is down, and start it"
		exit 1
	fi
done
echo done
