#!/bin/sh
# Runs two copies of secretsync, an old and a new one. A proxy keeps the list of the sources from
# the old one, so that it believes that there is none. Run it at the top of the exercise's copy,
# with the lab up.
. 04-informer-queue/lesson/reproduce/secretsync.sh
six() { [ "$(lines mole/db "$dir/log")" -ge 6 ]; }
proxy
start KUBECONFIG="$dir/kubeconfig"
logs created
kubectl -n pier annotate secret db example.com/secretsync- > /dev/null
logs deleted
stop $proxy
proxy --reject-paths='^/api/v1/namespaces/pier/secrets$'

kubectl -n pier annotate secret db example.com/secretsync= > /dev/null
: > "$dir/log"
start
within 15 six || true
grep mole/db "$dir/log" | head -n 6
