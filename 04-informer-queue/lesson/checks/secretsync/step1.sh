#!/bin/sh
# A source was copied to two targets.
cd "$(dirname "$0")/../../.." || exit 1

if [ ! -x bin/secretsync ]; then
	echo "secretsync is not built yet: go build -o bin/ ./secretsync"
	exit 1
fi
for copy in harbour/db coast/db; do
	if ! grep -q "^created $copy:" secretsync.log 2>/dev/null; then
		echo "secretsync.log does not show yet that $copy was created: annotate the secret and the namespace, and run secretsync"
		exit 1
	fi
done
if ! kubectl -n harbour get secret db -o jsonpath='{.metadata.annotations}' 2>/dev/null | grep -q '"secretsync/db/'; then
	echo "there is no copy of db in the namespace harbour: run secretsync until it is there"
	exit 1
fi
echo done
