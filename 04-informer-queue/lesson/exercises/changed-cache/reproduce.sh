#!/bin/sh
# Makes a source anew while secretsync is down, and starts it behind a proxy that refuses every
# update for three seconds. Run it at the top of the exercise's copy, with the lab up.
. 04-informer-queue/lesson/reproduce/secretsync.sh
start
says created
stop $program
{ kubectl -n pier delete secret db && create; } > /dev/null

proxy --reject-methods=PUT
start --kubeconfig="$dir/kubeconfig"
sleep 3
stop $proxy
echo "# updates are allowed again" >> "$dir/log"
proxy
sleep 8
sed 's/^E[^]]*\] //' "$dir/log"
