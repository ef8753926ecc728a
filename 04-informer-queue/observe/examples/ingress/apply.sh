#!/bin/sh
# Makes the Ingress of a Service what it should be: apply.sh NAMESPACE NAME PORT HOST
set -eu
namespace=$1 name=$2 port=$3 host=${4:-$2.$1.example.com}

# An Ingress of that name that we did not make is not ours to change.
mark=$(kubectl --namespace="$namespace" get ingress "$name" --ignore-not-found \
	--output=jsonpath='{.metadata.name}/{.metadata.labels.made-by}')
case $mark in
"" | "$name/observe") ;;
*)
	echo "ingress $namespace/$name was made by somebody else; rename it, or the service" >&2
	exit 1
	;;
esac

kubectl apply --filename=- <<END
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: $name
  namespace: $namespace
  labels: {made-by: observe}
spec:
  rules:
  - host: $host
    http:
      paths:
      - path: /
        pathType: Prefix
        backend:
          service: {name: $name, port: {number: $port}}
END
