#!/bin/sh
# Runs resource-builder on a custom resource of the kind Deployment and the group example.com. Run it
# at the top of the exercise's copy, with the lab up.
set -eu
dir=$(mktemp -d)
trap 'kubectl delete crd deployments.example.com > /dev/null; rm -r "$dir"' EXIT
go -C 02-resource-builder build -o "$dir/resource-builder" .
sed 's/harbour\.example/example/; s/boats/deployments/g; s/singular: boat/singular: deployment/; s/Boat/Deployment/' 02-resource-builder/harbour/crd.yaml | kubectl create -f - > /dev/null
kubectl wait --for=condition=Established crd/deployments.example.com > /dev/null
export KUBECACHEDIR="$dir/cache"
echo '{"apiVersion": "example.com/v1", "kind": "Deployment", "metadata": {"name": "web"}}' | kubectl create -f - > /dev/null
"$dir/resource-builder" deployments.example.com || echo "exit code $?"
