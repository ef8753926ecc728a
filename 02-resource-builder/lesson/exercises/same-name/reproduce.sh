#!/bin/sh
# Runs resource-builder on a custom resource of the kind Deployment and the group example.com. Run it
# at the top of the exercise's copy, with the lab up.
set -eu
dir=$(mktemp -d)
trap 'kubectl delete crd deployments.example.com > /dev/null; rm -r "$dir"' EXIT
go -C 02-resource-builder build -o "$dir/resource-builder" .
sed 's/harbour\.example/example/; s/boats/deployments/g; s/singular: boat/singular: deployment/; s/Boat/Deployment/' 02-resource-builder/harbour/crd.yaml | kubectl create -f - > /dev/null
kubectl wait --for=condition=Established --timeout=2m crd/deployments.example.com > /dev/null
export KUBECACHEDIR="$dir/cache"
create() { echo '{"apiVersion": "example.com/v1", "kind": "Deployment", "metadata": {"name": "web"}}' | kubectl create -f -; }
tries=100 # the server lists a new kind a moment later
until create > /dev/null 2> "$dir/error"; do
	tries=$((tries - 1))
	[ $tries != 0 ] || { cat "$dir/error" >&2; exit 1; }
	sleep 0.2
done
"$dir/resource-builder" deployments.example.com || echo "exit code $?"
