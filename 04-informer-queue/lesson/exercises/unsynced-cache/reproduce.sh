#!/bin/sh
# Restarts secretsync behind a proxy that keeps the list of the sources back, and prints what it
# requests about a copy. Run it at the top of the exercise's copy, with the lab up.
. 04-informer-queue/lesson/reproduce/secretsync.sh
# requests are those about the copy, each once.
requests() {
	sed -n 's#.*"Response" verb="\([A-Z]*\)" url="https*://[^/]*\([^"?]*\).*#\1 \2#p' "$dir/proxy" | grep '/mole$\|/db$' | awk '!seen[$0]++'
}
three() { [ "$(requests | wc -l)" -ge 3 ]; }
start
logs created
stop $program

proxy --reject-paths='^/api/v1/namespaces/pier/secrets$'
start KUBECONFIG="$dir/kubeconfig"
soon grep 'api/v1/secrets?.*watch=true' "$dir/proxy"
kubectl -n mole label secret db tone=high > /dev/null # so that there is an event about the copy
echo "requests about the copy:"
within 5 three || true
requests || echo none
