#!/bin/sh
# Deletes a pod while podlog has no connection, and kills the API server, which then has forgotten the
# deletion. Run it at the top of the exercise's copy, with the lab up.
. 04-informer-queue/lesson/reproduce/common.sh
clean() { kubectl delete pod bell buoy lamp --now --ignore-not-found; }
run() { kubectl run "$1" --image=busybox --restart=Never -- sleep 3600 > /dev/null; }
server() { lab status | awk '/^kube-apiserver/ { print $2 }'; }
restarted() { [ "$(server)" != "$killed" ] && kubectl get --raw /readyz; }
bells() { lines 'onUpdate: default/bell' "$dir/log"; }
more() { [ "$(bells)" -gt "$before" ]; }
go -C 04-informer-queue build -o "$dir/" ./cmd/podlog

proxy
"$dir/podlog" --kubeconfig="$dir/kubeconfig" >> "$dir/log" 2> /dev/null &
pids="$pids $!"
soon grep synced "$dir/log"
for pod in bell buoy; do
	run $pod
	soon grep "onAdd: default/$pod" "$dir/log"
done
kubectl wait --for=condition=Ready --timeout=2m pod/bell pod/buoy > /dev/null

stop $proxy
kubectl delete pod buoy --now > /dev/null
run lamp
killed=$(server)
kill -9 "$killed"
soon restarted
echo "# the connection is back" >> "$dir/log"
proxy
soon grep lamp "$dir/log"
# What the watch missed is handled before anything that happens from now on.
before=$(bells)
kubectl label pod bell tone=high > /dev/null
soon more
grep -v onUpdate "$dir/log"
