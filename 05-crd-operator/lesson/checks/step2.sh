#!/bin/sh
# Step 2: all was generated, and is what is committed.
cd "$(dirname "$0")/../.." || exit 1

if ! grep -q '^config/rbac' generate.log 2>/dev/null; then
	echo "generate.log does not tell of the roles, which come last: sh generate.sh | tee generate.log"
	exit 1
fi
if ! git diff --quiet -- generated config/crd config/rbac api; then
	echo "what was generated differs from what is committed: look at git diff"
	exit 1
fi
echo done
