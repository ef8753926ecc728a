#!/bin/sh
# Labels a copy, and changes its source, while a proxy keeps the list of the copies from
# secretsync. Run it at the top of the exercise's copy, with the lab up.
. 04-informer-queue/lesson/reproduce/secretsync.sh
proxy
start KUBECONFIG="$dir/kubeconfig"
logs created
stop $proxy
proxy --reject-paths='^/api/v1/secrets$'

kubectl -n mole label secret db team=divers
echo '{"stringData":{"password":"ebb"}}' | kubectl -n pier patch secret db --patch-file=/dev/stdin > /dev/null
soon grep 'verb="PUT"' "$dir/proxy"
stop $proxy
proxy
logs updated
kubectl -n mole get secret db --show-labels
