#!/bin/sh
# Uses up the quota of a namespace, and creates an At in another one.
cd "$(dirname "$0")/../../.." || exit 1
. lesson/reproduce.sh
team() { kubectl --namespace=reproduce-quota "$@"; }
ready() { team get serviceaccount default >/dev/null 2>&1; }
running() { [ "$(team get ats -o jsonpath='{range .items[*]}{.status.phase}{"\n"}{end}' | grep -c RUNNING)" -eq 8 ]; }
pod() { kubectl get pod bell-pod >/dev/null 2>&1; }
reason() { team get at team-1 -o jsonpath='{.status.conditions[?(@.type=="Scheduled")].reason}'; }
finish() {
	team delete ats --all --ignore-not-found >/dev/null 2>&1 || :
	kubectl delete namespace reproduce-quota --ignore-not-found >/dev/null 2>&1 || :
	end
}
begin
trap finish EXIT
kubectl create namespace reproduce-quota >/dev/null
await ready
team create quota pods --hard=pods=0 >/dev/null
team wait --for=jsonpath='{.status.hard.pods}'=0 resourcequota/pods --timeout=5m >/dev/null
go build -o "$dir/operator" ./cmd/controllerruntime
"$dir/operator" --all-namespaces --kubeconfig="$dir/kubeconfig" >>"$dir/operator.log" 2>&1 & # in all namespaces
jobs="$jobs $!"
for i in 1 2 3 4 5 6 7 8; do
	sed "s/example-at/team-$i/" config/samples/at.yaml
	echo ---
done | team create -f - >/dev/null
await running
echo '8 Ats of a team are due, and its quota is used up'

at bell 'echo DING'
if within 30 pod; then
	echo 'an At of another team has its pod'
else
	echo 'an At of another team has no pod after half a minute'
fi
echo "an At of the first team says: $(reason)"
