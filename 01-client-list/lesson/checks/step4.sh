#!/bin/sh
# Step 4: there is more than one page, and pages lose nothing.
cd "$(dirname "$0")/../.." || exit 1

if ! whole=$(./client-list --chunk-size=0 2>&1); then
	echo "client-list does not list: $whole"
	exit 1
fi
for n in 1 2 3; do
	if ! echo "$whole" | grep -qx "page-$n"; then
		echo "there is no namespace page-$n yet: kubectl create namespace page-$n"
		exit 1
	fi
done
if [ "$(./client-list --chunk-size=2 2>&1)" != "$whole" ]; then
	echo "pages of 2 do not print the same as the whole list: compare --chunk-size=2 with --chunk-size=0"
	exit 1
fi
echo done
