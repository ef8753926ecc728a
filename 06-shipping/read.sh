#!/bin/sh
# Prints what the manager serves at a path, to an account that may read it:
#
#	read.sh ACCOUNT PATH
#
# ACCOUNT is metrics-reader or profile-reader, a folder of config. For the first it takes the token
# in the Secret cnat-metrics-token, as a Prometheus does. Otherwise, or if there is no Secret, it
# takes one of the account that is good for ten minutes, and makes the account if there is none.
#
# It goes through a port-forward, which in the lab reaches the address of the pod. On
# most clusters it reaches the pod's loopback only, where the manager does not listen.
set -eu
cd "$(dirname "$0")"
account=$1
path=$2
token=
if [ "$account" = metrics-reader ]; then
	token=$(kubectl get secret cnat-metrics-token -n cnat-system --ignore-not-found -o go-template='{{with .data}}{{.token | base64decode}}{{end}}')
fi
if [ -z "$token" ]; then
	kubectl apply -f "config/$account/account.yaml" >/dev/null
	token=$(kubectl create token "cnat-$account" -n cnat-system --duration=10m)
fi

log=$(mktemp)
kubeconfig=$(mktemp) # which only its owner can read
kubectl port-forward -n cnat-system deployment/cnat-manager :8443 >"$log" 2>&1 &
forward=$!
trap 'kill $forward 2>/dev/null; rm -f "$log" "$kubeconfig"' EXIT
port=
# luck: it ends with kubectl
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
if ! kubectl --kubeconfig="$kubeconfig" get --raw "$path" --request-timeout=60s; then
	if grep -q 'error occurred forwarding' "$log"; then
		echo "read.sh: the port-forward of this cluster does not reach the manager, which listens at the address of its pod only; ask from another pod, as runbooks/CnatManagerDown.md shows" >&2
	fi
	exit 1
fi
