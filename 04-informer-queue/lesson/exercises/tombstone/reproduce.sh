#!/bin/sh
# Deletes a pod while first/ has no connection, and kills the API server, which then has forgotten the
# deletion. Run it at the top of the exercise's copy, with the lab up.
. 04-informer-queue/lesson/reproduce/common.sh
clean() { kubectl delete pod bell --now --ignore-not-found && kubectl delete namespace harbour; }
run() { kubectl -n "$1" run "$2" --image=busybox --restart=Never -- sleep 3600 > /dev/null; }
server() { lab status | awk '/^kube-apiserver/ { print $2 }'; }
restarted() { [ "$(server)" != "$killed" ] && kubectl get --raw /readyz; }
default() { lines 'namespace default' "$dir/log"; }
more() { [ "$(default)" -gt "$before" ]; }
go -C 04-informer-queue build -o "$dir/" ./first

kubectl create namespace harbour > /dev/null
run default bell
run harbour buoy
kubectl wait --for=condition=Ready --timeout=2m pod/bell > /dev/null
kubectl -n harbour wait --for=condition=Ready --timeout=2m pod/buoy > /dev/null
proxy
KUBECONFIG="$dir/kubeconfig" "$dir/first" >> "$dir/log" 2> /dev/null &
pids="$pids $!"
soon grep 'namespace harbour' "$dir/log"

stop $proxy
kubectl -n harbour delete pod buoy --now > /dev/null
killed=$(server)
kill -9 "$killed"
soon restarted
proxy
# What the watch missed is handled before anything that happens from now on.
for tone in low high; do
	before=$(default)
	soon kubectl label pod bell tone=$tone --overwrite
	soon more
done
echo "the connection is back, and buoy is gone"
echo "lines about harbour since then: $(sed -n '/0\.00/s/.*/one, and its pods have been running for 0 minutes/p' "$dir/log" | grep . || echo none)"
