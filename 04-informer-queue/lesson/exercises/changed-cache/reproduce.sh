#!/bin/sh
# Creates a source again while secretsync is down, and starts it behind a proxy that refuses every
# update at first. Run it at the top of the exercise's copy, with the lab up.
. 04-informer-queue/lesson/reproduce/secretsync.sh
start
logs created
stop $program
{ kubectl -n pier delete secret db && create; } > /dev/null

proxy --reject-methods=PUT
start KUBECONFIG="$dir/kubeconfig"
logs Forbidden
# luck: no state of the server shows how old the watch is
sleep 2 # after a watch of less than a second comes a list, which would fill the cache again
stop $proxy
echo "# updates are allowed again" >> "$dir/log"
proxy
within 15 grep updated "$dir/log" || echo "# 15 seconds later there is no update" >> "$dir/log"
grep -v '^[IW]' "$dir/log" | sed 's/^E[^]]*\] //'
