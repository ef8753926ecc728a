#!/bin/sh
# All was generated, and is what is committed.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q '^config/webhook/' generate.log 2>/dev/null; then
	echo "generate.log does not mention config/webhook/, which comes last: sh generate.sh | tee generate.log"
	exit 1
fi
if [ -n "$(git status --short api config generated)" ]; then
	echo "what was generated differs from what is committed: see git diff"
	exit 1
fi
echo done
