#!/bin/sh
# Shows where twelve pods go with the stock scheduler, and with the one in this folder: make scheduler.
set -eu
cd "$(dirname "$0")"
root=../../..
eval "$($root/lab/bin/lab env)" # with lab and kubectl in the PATH

lab up --static-pods
kwok_program=$(sh $root/tools/scripts/pinned.sh kwok) # it simulates nodes
"$kwok_program" --kubeconfig="$KUBECONFIG" --config=kwok.yaml --node-lease-duration-seconds=40 \
	--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake >$root/bin/kwok.log 2>&1 &
kwok=$!
end() {
	trap - EXIT INT TERM
	kubectl delete -f burst.yaml --ignore-not-found --cascade=foreground --timeout=5m >/dev/null || :
	kubectl delete -f nodes.yaml --ignore-not-found --timeout=5m >/dev/null || :
	kill "$kwok" || :
	lab up --static-pods=false >/dev/null
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
kubectl apply -f nodes.yaml >/dev/null
kubectl wait node -l type=kwok --for=condition=Ready --timeout=5m >/dev/null

echo "the stock scheduler, pods by node:"
sh burst.sh default-scheduler

began=$(date +%s)
echo "building the scheduler in this folder"
GOWORK=off go -C .. run ./image ./scheduler kube-scheduler:demo ../../bin/scheduler.tar
lab load $root/bin/scheduler.tar
sh place.sh kube-scheduler:demo
echo "waiting until the kubelet runs it, some ten seconds"
sh burst.sh spread-starts
echo "that took $(($(date +%s) - began)) s; kubectl showed it as"
kubectl get events --field-selector=reason=Scheduled -o custom-columns=BY:.reportingComponent,WHAT:.message --sort-by=.metadata.creationTimestamp | sed -n '1p;$p'
