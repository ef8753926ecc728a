#!/bin/sh
# Three members are there, and two are synced.
cd "$(dirname "$0")/../../../.." || exit 1

if [ "$(kubectl get pgc demo -o jsonpath='{.status.phase} {.status.replicas}' 2>/dev/null)" != "Running 3" ]; then
	echo "there is no cluster demo with three members yet: run the operator, and apply postgres/config/samples"
	exit 1
fi
echo done
