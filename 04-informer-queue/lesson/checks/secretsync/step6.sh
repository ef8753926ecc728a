#!/bin/sh
# The foreign secret in harbour is as it was, and an event says why.
cd "$(dirname "$0")/../../.." || exit 1

if [ "$(kubectl -n harbour get secret mail -o jsonpath='{.data.key}' 2>/dev/null)" != bWluZQ== ]; then
	echo "the secret mail in the namespace harbour does not have the key mine: make it before secretsync runs"
	exit 1
fi
if ! kubectl -n harbour get events.events.k8s.io 2>/dev/null | grep -q NameCollision; then
	echo "there is no event NameCollision in the namespace harbour: run secretsync"
	exit 1
fi
echo done
