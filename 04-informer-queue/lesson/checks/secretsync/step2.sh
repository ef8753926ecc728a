#!/bin/sh
# The copy in quay was created, created again after it was deleted, and deleted with the target.
cd "$(dirname "$0")/../../.." || exit 1

if [ "$(grep -c '^created quay/db:' keys.log 2>/dev/null)" != 2 ]; then
	echo "keys.log does not show two times yet that quay/db was created: annotate the namespace quay, and delete its copy, while secretsync runs"
	exit 1
fi
if ! grep -q '^deleted quay/db:' keys.log; then
	echo "keys.log does not show that quay/db was deleted: take the annotation off the namespace quay while secretsync runs"
	exit 1
fi
echo done
