#!/bin/sh
# Starts five pods on four nodes, each of which may start one at a time. When four run, it waits for
# the fifth. Needs a running lab that is selected: eval "$(make -s env)" at the top of the repository.
cd "$(dirname "$0")/../../.." || exit 1
. lesson/reproduce.sh
cd controlplane/scheduler
clean() {
	kubectl delete job burst --ignore-not-found
	kubectl delete pods -l app=burst --force 2>&1 # no KWOK is left to end them
	kubectl delete -f nodes.yaml --ignore-not-found --timeout=2m
}
burst() { kubectl get pods -l app=burst "$@"; }
running() { [ "$(burst --field-selector=status.phase=Running -o name | wc -l)" -ge "$1" ]; }

echo "building the scheduler, and KWOK (minutes the first time)"
version=$(GOWORK=off go -C .. list -m -f '{{.Version}}' k8s.io/kubernetes) # it does not start without
GOWORK=off go -C .. build -ldflags "-X k8s.io/component-base/version.gitVersion=$version" -o "$dir/kube-scheduler" ./scheduler
GOWORK=off go -C ../../../tools/pinned/kwok build -o "$dir/kwok" sigs.k8s.io/kwok/cmd/kwok
"$dir/kwok" --kubeconfig="$KUBECONFIG" --config=kwok.yaml --node-lease-duration-seconds=40 \
	--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake >"$dir/kwok.log" 2>&1 &
jobs=$!
kubectl apply -f nodes.yaml >/dev/null
kubectl wait node -l type=kwok --for=condition=Ready --timeout=2m >/dev/null

# Beside the lab's own scheduler: without the profile that this one serves, and without its lease.
sed "s|kubeconfig: .*|kubeconfig: \"$KUBECONFIG\"|; s/leaderElect: true/leaderElect: false/; /default-scheduler/d
	s/startsPerNode: 0.*/startsPerNode: 1/" config.yaml >"$dir/config.yaml"
"$dir/kube-scheduler" --config="$dir/config.yaml" --secure-port=0 >"$dir/scheduler.log" 2>&1 &
jobs="$jobs $!"
sed 's/parallelism: 12/parallelism: 5/; s/completions: 12/completions: 5/' burst.yaml | kubectl apply -f - >/dev/null
await running 4
within 20 running 5 || :
burst -o custom-columns=PHASE:.status.phase --no-headers | sort | uniq -c
kubectl get events --field-selector=reason=FailedScheduling -o custom-columns=WHAT:.message --no-headers | tail -n 1
