#!/bin/sh
# A source was copied to two targets, and its change as well.
cd "$(dirname "$0")/../../.." || exit 1

if [ ! -x bin/secretsync ]; then
	echo "secretsync is not built yet: go build -o bin/ ./secretsync"
	exit 1
fi
for action in created updated; do
	for copy in harbour/db coast/db; do
		if ! grep -q "^$action $copy:" secretsync.log 2>/dev/null; then
			echo "secretsync.log has no line \"$action $copy\" yet: annotate the secret and the namespaces, run secretsync, and change the secret"
			exit 1
		fi
	done
done
if ! kubectl -n harbour get secret db -o jsonpath='{.metadata.annotations}' 2>/dev/null | grep -q '"secretsync/db/'; then
	echo "there is no copy of db in the namespace harbour: run secretsync until it is there"
	exit 1
fi
echo done
