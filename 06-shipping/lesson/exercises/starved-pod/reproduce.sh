#!/bin/sh
# Starts five pods on four nodes, each of which may start one at a time, and looks after 30 seconds.
# Needs a running lab that is selected: eval "$(make -s env)" at the top of the repository.
set -eu
cd "$(dirname "$0")/../../../controlplane/scheduler"
work=$(mktemp -d)
started=
end() {
	trap - EXIT INT TERM
	kubectl delete job burst --ignore-not-found --cascade=foreground --timeout=60s >/dev/null || :
	kubectl delete -f nodes.yaml --ignore-not-found --timeout=60s >/dev/null || :
	for pid in $started; do kill "$pid" || :; done
	rm -rf "$work"
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

echo "building the scheduler, and KWOK (minutes the first time)"
version=$(GOWORK=off go -C .. list -m -f '{{.Version}}' k8s.io/kubernetes) # it does not start without
GOWORK=off go -C .. build -ldflags "-X k8s.io/component-base/version.gitVersion=$version" -o "$work/kube-scheduler" ./scheduler
GOWORK=off go -C ../../../tools/pinned/kwok build -o "$work/kwok" sigs.k8s.io/kwok/cmd/kwok
"$work/kwok" --kubeconfig="$KUBECONFIG" --config=kwok.yaml --node-lease-duration-seconds=40 \
	--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake >"$work/kwok.log" 2>&1 &
started=$!
kubectl apply -f nodes.yaml >/dev/null
kubectl wait node -l type=kwok --for=condition=Ready --timeout=60s >/dev/null

# Beside the lab's own scheduler: without the profile that this one serves, and without its lease.
sed "s|kubeconfig: .*|kubeconfig: \"$KUBECONFIG\"|; s/leaderElect: true/leaderElect: false/; /default-scheduler/d
	s/startsPerNode: 0.*/startsPerNode: 1/" config.yaml >"$work/config.yaml"
"$work/kube-scheduler" --config="$work/config.yaml" --secure-port=0 >"$work/scheduler.log" 2>&1 &
started="$started $!"
sed 's/parallelism: 12/parallelism: 5/; s/completions: 12/completions: 5/' burst.yaml | kubectl apply -f - >/dev/null
sleep 30
kubectl get pods -l app=burst -o custom-columns=NODE:.spec.nodeName,PHASE:.status.phase
kubectl get events --field-selector=reason=FailedScheduling -o custom-columns=WHAT:.message | tail -n 1
