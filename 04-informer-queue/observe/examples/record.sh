#!/bin/sh
# observe services -a '{ .spec.clusterIP }' -- ./record.sh
# Keeps a file with the address of each Service, a line for each.
set -eu
file=${FILE:-services.txt}
touch "$file"
{
	grep -v "^$1/$2 " "$file" || true
	echo "$1/$2 $3"
} >"$file.new"
mv "$file.new" "$file"
