#!/bin/sh
# Killed and started again, secretsync made each copy once; and it made up for what was changed while it was down.
cd "$(dirname "$0")/../../.." || exit 1

for file in killed.log restarted.log; do
	if ! grep -q '^created .*/crate-' "$file" 2>/dev/null; then
		echo "$file does not show a copy of a crate yet: run secretsync, kill it in the middle, and run it again"
		exit 1
	fi
done
if [ -n "$(sort killed.log restarted.log | uniq -d)" ]; then
	echo "killed.log and restarted.log have a line in common: remove the crates and their copies, and do the step again"
	exit 1
fi
for line in "updated harbour/db" "deleted coast/db" "created harbour/seal" "deleted harbour/crate-1" "deleted coast/crate-1"; do
	if ! grep -q "^$line:" down.log 2>/dev/null; then
		echo "down.log has no line \"$line\" yet: make the changes while secretsync is down, and start it"
		exit 1
	fi
done
echo done
