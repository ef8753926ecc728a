#!/bin/sh
# Prints NAMESPACE/NAME of each Ingress that we made. These are also the names of
# the Services that they are for.
exec kubectl get ingress --all-namespaces --selector=made-by=observe \
	--output=jsonpath='{range .items[*]}{.metadata.namespace}/{.metadata.name}{"\n"}{end}'
