#!/bin/sh
# Runs a leader and a standby, ends the leader, and probes the other. The manager is
# compiled with ten seconds in the place of the three minutes. Needs the lab:
# eval "$(make -s env)" at the top of the repository.
cd "$(dirname "$0")/../../.." || exit 1
. lesson/reproduce.sh
clean() {
	kubectl delete validatingwebhookconfiguration reproduce --ignore-not-found
	kubectl delete namespace reproduce --ignore-not-found
	if [ -e "$dir/made" ]; then
		kubectl delete -k config/crd
	fi
}
served() { kubectl get ats,settingslayers >/dev/null 2>&1; }
leads() { kubectl get lease cnat-manager -n reproduce --ignore-not-found -o jsonpath='{.spec.holderIdentity}' | grep -q "replica-$1"; }
running() { [ "$(kubectl get ats -n reproduce -o jsonpath='{.items[*].status.phase}' | tr ' ' '\n' | grep -c RUNNING)" -eq 16 ]; }

# replica runs one at free ports. The one for the probes is in its log, from which health takes it.
replica() {
	POD_NAME="replica-$1" LEADER_ELECTION_NAMESPACE=reproduce NAMESPACES=reproduce METRICS_TOKEN_FILE="$dir/token" \
		METRICS_BIND_ADDRESS=127.0.0.1:0 HEALTH_BIND_ADDRESS=127.0.0.1:0 "$dir/manager" >"$dir/$1.log" 2>&1 &
	jobs="$jobs $!"
}
health() { sed -n 's/.*"name":"health probe".*"addr":"\([^"]*\)".*/\1/p' "$dir/2.log"; }
probe() { curl --silent --fail "http://$(health)/$1" >/dev/null; }

sed 's/stallTimeout = 3 [*] time.Minute/stallTimeout = 10 * time.Second/' manager/health.go >"$dir/health.go"
echo "{\"Replace\": {\"$PWD/manager/health.go\": \"$dir/health.go\"}}" >"$dir/overlay.json"
go build -overlay "$dir/overlay.json" -o "$dir/manager" ./cmd/manager
echo token >"$dir/token"

kubectl create namespace reproduce >/dev/null
if kubectl create -k config/crd >/dev/null 2>&1; then
	touch "$dir/made"
fi
await served
# A webhook that never answers: it takes four seconds until the API server refuses a pod.
kubectl proxy --port=0 >"$dir/silent" 2>&1 &
silent=$! jobs=$!
await grep -q 'Starting to serve' "$dir/silent"
kill -STOP $silent
kubectl create -f - >/dev/null <<END
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: reproduce}
webhooks:
- name: silent.example.com
  clientConfig: {url: "https://$(sed -n 's/.*Starting to serve on //p' "$dir/silent")/"}
  timeoutSeconds: 4
  sideEffects: None
  admissionReviewVersions: [v1]
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: reproduce}}
  rules:
  - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}
END
for i in $(seq 16); do
	echo "---"
	sed "s/example-at/waits-$i/" config/samples/at.yaml
done | kubectl create -n reproduce -f - >/dev/null

replica 1 && one=$!
await leads 1
await running
replica 2
await probe readyz
probe healthz && echo 'replica-2 stands by, and is alive'
# luck: the time itself is what it is about
sleep 12 # it stands by for longer than those ten seconds
kill $one
await leads 2
for _ in 1 2 3; do
	curl --silent --output /dev/null --write-out 'replica-2 leads, and the answer to the probe is %{http_code}\n' "http://$(health)/healthz"
	sleep 0.5
done
grep 'not alive' "$dir/2.log" | tail -n 1 || :
