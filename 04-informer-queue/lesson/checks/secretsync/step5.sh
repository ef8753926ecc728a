#!/bin/sh
# With a stale cache, one write was refused and repeated, and one delete was not made.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q 'PUT harbour/secrets/db 409' requests.log 2>/dev/null; then
	echo "requests.log shows no 409 for harbour/db yet: label the copy and change its source while the cache is frozen"
	exit 1
fi
if ! grep -q '^updated harbour/db:' stale.log 2>/dev/null; then
	echo "stale.log does not show that harbour/db was updated: lab thaw"
	exit 1
fi
if ! kubectl -n harbour get secret db -o jsonpath='{.metadata.labels}' | grep -q '"team":"divers"'; then
	echo "the copy harbour/db has no label team=divers: label it while the cache is frozen"
	exit 1
fi
if ! kubectl -n harbour get secret seal >/dev/null 2>&1; then
	echo "the secret harbour/seal is gone: take its label off while the cache is frozen, before you take the annotation off its source"
	exit 1
fi
echo done
