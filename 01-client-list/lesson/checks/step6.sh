#!/bin/sh
# Step 6: the finished program is built, and chunks lose nothing.
cd "$(dirname "$0")/../.." || exit 1

if [ ! -x client-list ]; then
	echo "client-list is not built yet: go build -o client-list ."
	exit 1
fi
if [ "$(./client-list --chunk-size=2 2>&1)" != "$(./list 2>&1)" ]; then
	echo "chunks of 2 do not print what the whole list prints: compare ./client-list --chunk-size=2 with ./list"
	exit 1
fi
echo done
