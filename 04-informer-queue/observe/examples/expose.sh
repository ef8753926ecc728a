#!/bin/sh
# observe deployments -a '{.metadata.annotations.example\.com/port}' --type-env-var=EVENT --delete=./expose.sh -- ./expose.sh
# Keeps a Service for each Deployment with the annotation example.com/port.
set -eu
kubectl="kubectl --namespace=$1" ours=made-by=observe
if test "$EVENT" = Deleted || test -z "$3"; then
	exec $kubectl delete service --selector="$ours" --field-selector="metadata.name=$2"
fi
theirs=$($kubectl get services --selector="made-by!=observe" --field-selector="metadata.name=$2" --output=name)
test -z "$theirs" || { echo "$theirs was made by somebody else" >&2; exit 1; }
$kubectl expose deployment "$2" --port="$3" --labels="$ours" --dry-run=client --output=yaml | $kubectl apply --filename=-
