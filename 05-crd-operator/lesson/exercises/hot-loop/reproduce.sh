#!/bin/sh
# Looks at the Deployment of a Lighthouse for five seconds, while nobody touches it.
cd "$(dirname "$0")/../../.." || exit 1
. lesson/reproduce.sh
version() { kubectl get deployment eddystone -o jsonpath='{.metadata.resourceVersion}'; }
last='' changes=0
grows() { # a few changes are those of the rollout
	now=$(version)
	[ "$now" = "$last" ] || changes=$((changes + 1))
	last=$now
	[ "$changes" -ge 6 ]
}
finish() {
	kubectl delete lighthouses --all --ignore-not-found >/dev/null 2>&1 || :
	kubectl delete -f lighthouse/operator/config/crd --ignore-not-found >/dev/null 2>&1 || :
	end
}
begin
trap finish EXIT
kubectl apply -f lighthouse/operator/config/crd >/dev/null
kubectl wait --for=condition=Established --timeout=2m crd/lighthouses.coast.example.com >/dev/null
go build -o "$dir/operator" ./lighthouse/operator
"$dir/operator" --kubeconfig="$dir/kubeconfig" >>"$dir/operator.log" 2>&1 &
jobs="$jobs $!"
await kubectl apply -f lighthouse/first/eddystone.yaml >/dev/null
await is deployment/eddystone .status.readyReplicas 3
echo 'all lamps burn, and nobody touches the Deployment'
if within 5 grows; then
	echo 'its resource version grows all the time'
else
	echo 'its resource version stays'
fi
