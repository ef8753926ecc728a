#!/bin/sh
# Runs client-list as a service account without a role. Run it at the top of the exercise's copy,
# with the lab up.
set -eu
dir=$(mktemp -d)
trap 'rm -r "$dir"' EXIT
go -C 01-client-list build -o "$dir/client-list" .
kubectl config view --minify --flatten > "$dir/kubeconfig"
kubectl --kubeconfig="$dir/kubeconfig" config unset users > /dev/null
(umask 077; kubectl create token default > "$dir/token")
kubectl --kubeconfig="$dir/kubeconfig" config set users.reader.tokenFile token > /dev/null
kubectl --kubeconfig="$dir/kubeconfig" config set-context --current --user=reader > /dev/null
"$dir/client-list" --kubeconfig="$dir/kubeconfig" || echo "exit code $?"
