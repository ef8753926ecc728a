#!/bin/sh
# Two attempts made two secrets; secretsync, killed and started again, made each copy once.
cd "$(dirname "$0")/../../.." || exit 1

if [ "$(kubectl -n quay get secrets -o name 2>/dev/null | grep -c '^secret/db-')" -lt 2 ]; then
	echo "the namespace quay has no two secrets db-...: create one with generateName twice"
	exit 1
fi
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
if [ ! -f idle.log ] || [ -s idle.log ]; then
	echo "idle.log should be there and empty: run secretsync once more when nothing differs"
	exit 1
fi
echo done
