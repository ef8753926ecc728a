#!/bin/sh
# demo was scaled to 5, and nothing has acted.
cd "$(dirname "$0")/../../../.." || exit 1

if [ "$(kubectl get pgc demo -o jsonpath='{.spec.size} {.status.phase}' 2>/dev/null)" != "5 " ]; then
	echo "there is no demo of size 5 without a phase yet: apply postgres/config/samples, and kubectl scale pgc demo --replicas=5"
	exit 1
fi
echo done
