#!/bin/sh
# Runs a leader and a standby, ends the leader, and probes the other. The manager is
# compiled with ten seconds in the place of the three minutes. Needs the lab:
# eval "$(make -s env)" at the top of the repository.
set -eu
cd "$(dirname "$0")/../../.."
dir=$(mktemp -d)
one='' two='' silent=''
end() {
	trap - EXIT INT TERM
	kill -CONT $silent 2>/dev/null || :
	kill $one $two $silent 2>/dev/null || : # unquoted: there may be none
	wait 2>/dev/null || :
	kubectl delete validatingwebhookconfiguration reproduce --ignore-not-found >/dev/null
	kubectl delete namespace reproduce --ignore-not-found >/dev/null
	if [ -e "$dir/made" ]; then
		kubectl delete -k config/crd >/dev/null
	fi
	rm -rf "$dir"
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# await runs a command until it succeeds, for a minute at most.
await() {
	tries=300
	until "$@"; do
		tries=$((tries - 1))
		if [ "$tries" = 0 ]; then
			echo "this does not come true within a minute: $*" >&2
			cat "$dir"/*.log >&2
			exit 1
		fi
		sleep 0.2
	done
}
served() { kubectl get ats,settingslayers >/dev/null 2>&1; }
probe() { curl --silent --fail "http://127.0.0.1:817$1" >/dev/null; }
leads() { kubectl get lease cnat-manager -n reproduce --ignore-not-found -o jsonpath='{.spec.holderIdentity}' | grep -q "replica-$1"; }
running() { [ "$(kubectl get ats -n reproduce -o jsonpath='{.items[*].status.phase}' | tr ' ' '\n' | grep -c RUNNING)" -eq 16 ]; }
replica() {
	POD_NAME="replica-$1" LEADER_ELECTION_NAMESPACE=reproduce NAMESPACES=reproduce METRICS_TOKEN_FILE="$dir/token" \
		METRICS_BIND_ADDRESS="127.0.0.1:816$1" HEALTH_BIND_ADDRESS="127.0.0.1:817$1" "$dir/manager" >"$dir/$1.log" 2>&1 &
}

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
kubectl proxy --port=8192 >/dev/null 2>&1 &
silent=$!
await curl --silent --output /dev/null http://127.0.0.1:8192/
kill -STOP $silent
kubectl create -f - >/dev/null <<END
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: reproduce}
webhooks:
- name: silent.example.com
  clientConfig: {url: "https://127.0.0.1:8192/"}
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
replica 2 && two=$!
await probe 2/readyz
probe 2/healthz && echo 'replica-2 stands by, and is alive'
sleep 12
kill $one
await leads 2
for _ in 1 2 3 4 5; do
	curl --silent --output /dev/null --write-out 'replica-2 leads, and the answer to the probe is %{http_code}\n' http://127.0.0.1:8172/healthz
	sleep 0.5
done
grep 'not alive' "$dir/2.log" | tail -n 1 || :
