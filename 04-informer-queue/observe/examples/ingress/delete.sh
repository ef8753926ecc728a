#!/bin/sh
# Deletes the Ingress of a Service that is no more, if we made it, or if it is
# still there: delete.sh NAMESPACE NAME
exec kubectl --namespace="$1" delete ingress --selector=made-by=observe --field-selector="metadata.name=$2"
