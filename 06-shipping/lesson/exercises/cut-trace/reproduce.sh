#!/bin/sh
# Runs a manager and a collector of traces for one At, and counts the traces that show the requests of a
# reconcile. Needs the lab: eval "$(make -s env)" at the top of the repository.
cd "$(dirname "$0")/../../.." || exit 1
. lesson/reproduce.sh
clean() {
	kubectl delete namespace reproduce --ignore-not-found
	if [ -e "$dir/made" ]; then
		kubectl delete -k config/crd
	fi
}
served() { kubectl get ats,settingslayers >/dev/null 2>&1; }
done_() { [ "$(kubectl get at example-at -n reproduce -o jsonpath='{.status.phase}')" = DONE ]; }
arrived() { grep -q 'reconcile At' "$dir/traces.log" && grep -q 'POST.*namespaces/reproduce/pods 201' "$dir/traces.log"; }

go build -o "$dir" ./cmd/manager ./signals/sink
echo token >"$dir/token"
kubectl create namespace reproduce >/dev/null
if kubectl create -k config/crd >/dev/null 2>&1; then
	touch "$dir/made"
fi
await served
"$dir/sink" --listen=127.0.0.1:0 >"$dir/traces.log" &
jobs=$!
await grep -q '^listening at' "$dir/traces.log"
OTEL_EXPORTER_OTLP_ENDPOINT=http://$(sed -n 's/^listening at //p' "$dir/traces.log") \
	NAMESPACES=reproduce METRICS_TOKEN_FILE="$dir/token" METRICS_BIND_ADDRESS=127.0.0.1:0 HEALTH_BIND_ADDRESS=127.0.0.1:0 \
	"$dir/manager" --leader-elect=false >"$dir/manager.log" 2>&1 &
jobs="$jobs $!"
kubectl create -n reproduce -f config/samples/at.yaml >/dev/null
await done_
await arrived
echo "traces that begin with a reconcile, and have a request in them: $(grep -A 1 'reconcile At' "$dir/traces.log" | grep -c '^    +.*HTTP')"
