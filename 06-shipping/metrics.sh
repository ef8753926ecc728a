#!/bin/sh
# Prints the metrics of the manager, as the service account cnat-system/metrics-reader,
# which may read them and nothing else. It makes the account if there is none.
#
# It goes through a port-forward, which in the lab reaches the address of the pod. On
# most clusters it reaches the pod's loopback only, where the manager does not listen.
# There, ask from another pod, as runbooks/CnatManagerDown.md shows.
set -eu
kubectl create serviceaccount metrics-reader -n cnat-system --dry-run=client -o yaml | kubectl apply -f - >/dev/null
kubectl create clusterrolebinding cnat-metrics-reader --clusterrole=cnat-metrics-reader \
	--serviceaccount=cnat-system:metrics-reader --dry-run=client -o yaml | kubectl apply -f - >/dev/null
token=$(kubectl create token metrics-reader -n cnat-system --duration=10m)

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
# kubectl can ask any server. The certificate was made at the start, and nobody has
# signed it; what is at the other end of the port-forward is known.
cat >"$kubeconfig" <<END
{"current-context": "m", "contexts": [{"name": "m", "context": {"cluster": "m", "user": "m"}}],
 "clusters": [{"name": "m", "cluster": {"server": "https://127.0.0.1:$port", "insecure-skip-tls-verify": true}}],
 "users": [{"name": "m", "user": {"token": "$token"}}]}
END
kubectl --kubeconfig="$kubeconfig" get --raw /metrics --request-timeout=20s
