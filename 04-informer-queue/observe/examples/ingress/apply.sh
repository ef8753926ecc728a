#!/bin/sh
# Makes the Ingress of a Service what it should be: apply.sh NAMESPACE NAME PORT HOST
set -eu
namespace=$1 name=$2 port=$3 host=${4:-$2.$1.example.com}

# The host is what somebody wrote into an annotation. Let nothing else through.
LC_ALL=C
case $host in
*[!a-z0-9.-]* | [.-]* | *[.-])
	echo "service $namespace/$name: the annotation example.com/host is no host name; it has lower-case letters, digits, - and ." >&2
	exit 1
	;;
esac

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

# kubectl writes the manifest, so that a value can never be more than a value.
kubectl --namespace="$namespace" create ingress "$name" --rule="$host/*=$name:$port" --dry-run=client --output=yaml |
	kubectl label --local --filename=- made-by=observe --output=yaml |
	kubectl apply --filename=-
