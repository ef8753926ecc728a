#!/bin/sh
# Prints the metrics of the manager, as a Prometheus reads them: with the token in the
# Secret cnat-metrics-token. If there is none, it takes one of the same account that is
# good for ten minutes, and makes that account if there is none either.
#
# It goes through a port-forward, which in the lab reaches the address of the pod. On
# most clusters it reaches the pod's loopback only, where the manager does not listen.
set -eu
cd "$(dirname "$0")"
token=$(kubectl get secret cnat-metrics-token -n cnat-system --ignore-not-found -o go-template='{{with .data}}{{.token | base64decode}}{{end}}')
if [ -z "$token" ]; then
	kubectl apply -f config/metrics-reader/account.yaml >/dev/null
	token=$(kubectl create token cnat-metrics-reader -n cnat-system --duration=10m)
fi

log=$(mktemp)
kubeconfig=$(mktemp) # which only its owner can read
kubectl port-forward -n cnat-system deployment/cnat-manager :8443 >"$log" 2>&1 &
forward=$!
trap 'kill $forward 2>/dev/null; rm -f "$log" "$kubeconfig"' EXIT
port=
while [ -z "$port" ]; do
	kill -0 $forward 2>/dev/null || { cat "$log" >&2; exit 1; } # it has said why
	sleep 0.1
	port=$(sed -n 's/^Forwarding from 127.0.0.1:\([0-9]*\) .*/\1/p' "$log")
done
# kubectl can ask any server. The certificate may have been made at the start, and nobody
# has signed it; what is at the other end of the port-forward is known.
cat >"$kubeconfig" <<END
{"current-context": "m", "contexts": [{"name": "m", "context": {"cluster": "m", "user": "m"}}],
 "clusters": [{"name": "m", "cluster": {"server": "https://127.0.0.1:$port", "insecure-skip-tls-verify": true}}],
 "users": [{"name": "m", "user": {"token": "$token"}}]}
END
if ! kubectl --kubeconfig="$kubeconfig" get --raw /metrics --request-timeout=20s; then
	if grep -q 'error occurred forwarding' "$log"; then
		echo "metrics.sh: the port-forward of this cluster does not reach the manager, which listens at the address of its pod only; ask from another pod, as runbooks/CnatManagerDown.md shows" >&2
	fi
	exit 1
fi
