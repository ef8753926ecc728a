#!/bin/sh
# Three pods have three databases.
cd "$(dirname "$0")/../../../.." || exit 1

if [ "$(grep -c ' is' identifiers.log 2>/dev/null)" != 3 ]; then
	echo "identifiers.log does not have three lines yet: create the StatefulSet, and ask each of its pods"
	exit 1
fi
echo done
