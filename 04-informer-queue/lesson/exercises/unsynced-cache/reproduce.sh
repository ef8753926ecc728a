#!/bin/sh
# Restarts secretsync behind a proxy that keeps the list of the sources back, and prints what it
# requests about a copy. Run it at the top of the exercise's copy, with the lab up.
. 04-informer-queue/lesson/reproduce/secretsync.sh
start
says created
stop $program

proxy --reject-paths='^/api/v1/namespaces/pier/secrets$'
start --kubeconfig="$dir/kubeconfig"
sleep 3
kubectl -n mole label secret db tone=high > /dev/null # so that there is an event about the copy
sleep 2
echo "requests about the copy:"
sed -n 's#.*"Response" verb="\([A-Z]*\)" url="https*://[^/]*\([^"?]*\).*#\1 \2#p' "$dir/proxy" | grep '/mole$\|/db$' || echo none
