#!/bin/sh
# Step 8: the shell syntax of horn has been printed, not obeyed.
cd "$(dirname "$0")/../../.." || exit 1

if [ "$(cat horn.log 2>/dev/null)" != "\"it's\" YAY | tr a-z A-Z" ]; then
	echo "horn.log does not have the command as it was written yet: create the At horn while ./bin/first runs"
	exit 1
fi
echo done
