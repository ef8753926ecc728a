#!/bin/sh
# Runs resource-builder three times with a new cache, and prints its requests. Run it at the top of
# the exercise's copy, with the lab up.
set -eu
dir=$(mktemp -d)
trap 'rm -r "$dir"' EXIT
go -C 02-resource-builder build -o "$dir/resource-builder" .
for run in 1 2 3; do
	echo "run $run"
	KUBECACHEDIR=$dir/cache "$dir/resource-builder" nodes -v=6 2>&1 | grep -o 'url=[^ ]*'
done
