#!/bin/sh
# Deletes a pod while podlog has no connection, and kills the API server, which then has forgotten the
# deletion. Run it at the top of the exercise's copy, with the lab up.
set -eu
dir=$(mktemp -d)
pids=
end() {
	kill $pids || true
	wait || true
	kubectl delete pod bell buoy lamp --now --ignore-not-found
	rm -r "$dir"
}
trap 'end > /dev/null 2>&1' EXIT
trap 'exit 1' INT TERM
go -C 04-informer-queue build -o "$dir/" ./cmd/podlog
kubectl config view --minify --flatten > "$dir/kubeconfig"
kubectl --kubeconfig="$dir/kubeconfig" config set-cluster "$(kubectl config view --minify -o 'jsonpath={.clusters[0].name}')" \
	--server=http://127.0.0.1:8016 > /dev/null
run() { kubectl run "$1" --image=busybox --restart=Never -- sleep 3600 > /dev/null; }
proxy() { kubectl proxy --port=8016 > /dev/null & proxy=$!; pids="$pids $proxy"; }
soon() {
	tries=0
	until "$@" > /dev/null 2>&1; do
		tries=$((tries + 1))
		[ $tries -lt 150 ] || return 1
		sleep 0.2
	done
}

run bell
run buoy
kubectl wait --for=condition=Ready pod/bell pod/buoy > /dev/null
proxy
soon kubectl --kubeconfig="$dir/kubeconfig" get --raw /readyz
"$dir/podlog" --kubeconfig="$dir/kubeconfig" >> "$dir/log" 2> /dev/null & pids="$pids $!"
soon grep synced "$dir/log"

kill $proxy
kubectl delete pod buoy --now > /dev/null
run lamp
kill -9 "$(lab status | awk '/^kube-apiserver/ { print $2 }')"
sleep 1
soon kubectl get --raw /readyz
echo "# the connection is back" >> "$dir/log"
proxy
soon grep lamp "$dir/log"
kubectl label pod bell tone=high > /dev/null
sleep 2
grep -v onUpdate "$dir/log"
