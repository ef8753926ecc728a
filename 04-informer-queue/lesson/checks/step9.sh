#!/bin/sh
# What was made wrong while it was down was put right, and then there was peace.
cd "$(dirname "$0")/../.." || exit 1

for line in "updated harbour/db" "deleted coast/db" "created harbour/seal" "created harbour/db"; do
	if ! grep -q "^$line:" wrong.log 2>/dev/null; then
		echo "wrong.log has no line \"$line\" yet: make it wrong while secretsync is down, and start it"
		exit 1
	fi
done
if [ "$(kubectl -n harbour get secret db -o jsonpath='{.data.password}' 2>/dev/null)" != dGlkZQ== ]; then
	echo "the copy harbour/db does not say tide: run secretsync"
	exit 1
fi
if [ ! -f idle.log ] || [ -s idle.log ]; then
	echo "idle.log should be there and empty: run secretsync once more when nothing differs"
	exit 1
fi
echo done
