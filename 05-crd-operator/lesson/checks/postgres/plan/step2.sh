#!/bin/sh
# The search has gone through all worlds.
cd "$(dirname "$0")/../../../.." || exit 1

if ! tail -n 1 search.log 2>/dev/null | grep -q '^ok' || ! grep -q 'worlds' search.log; then
	echo "search.log does not show a search that has passed yet: go -C postgres test -count=1 -v -run TestSearchFindsNoBrokenPromise ./plan > search.log"
	exit 1
fi
echo done
