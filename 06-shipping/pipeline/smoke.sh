#!/bin/sh
# What this operator is for, once, as a user sees it. Write this file for yours: it fails, in time, when nothing happens.
set -eu
namespace=smoke-$$
trap 'kubectl delete namespace "$namespace" --wait=false' EXIT
kubectl create -f - <<END_OF_NAMESPACE
{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "$namespace",
  "labels": {"team": "coast"}, "annotations": {"example.com/namespace-labels": ""}}}
END_OF_NAMESPACE
made() { kubectl wait -n "$namespace" --for=create configmap/namespace-labels --timeout="${SMOKE_TIMEOUT:-60s}"; }
made
kubectl get configmap namespace-labels -n "$namespace" -o jsonpath='{.data.labels}{"\n"}' | grep team=coast
kubectl delete configmap namespace-labels -n "$namespace"
made # again, since the namespace still asks for it
