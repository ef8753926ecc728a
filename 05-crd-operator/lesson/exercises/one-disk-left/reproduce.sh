#!/bin/sh
# Has the search go through every state of a cluster of two that has a backup, and prints the way
# to one in which a promise is broken.
cd "$(dirname "$0")/../../../postgres" || exit 1
if found=$(GOWORK=off go test -count=1 ./plan -run TestSearchFindsNoBrokenPromise/all_disks_are_lost); then
	echo 'no promise is broken'
else
	echo "$found" | sed -n '/^ *scopes_test/,/worlds,/{/worlds,/!s/^ *\(scopes_test.go:[0-9]*: \)*//p;}'
fi
