#!/bin/sh
# All pods were gone, and no row is lost.
cd "$(dirname "$0")/../../../.." || exit 1

if ! grep -q ' 0 lost' pods.log 2>/dev/null; then
	echo "pods.log does not end with 0 lost yet: delete all pods while writer runs, and end writer"
	exit 1
fi
echo done
