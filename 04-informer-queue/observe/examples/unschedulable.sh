#!/bin/sh
# observe pods -a '{.metadata.ownerReferences[0].kind}/{.metadata.ownerReferences[0].name}' -a '{.status.conditions[?(@.reason=="Unschedulable")].message}' -- ./unschedulable.sh
# Annotates what made a pod that cannot be scheduled with the reason.
set -eu
if test "$3" = / || test -z "$4"; then
	exit # nothing made it, or it can be scheduled
fi
# Behind --, and with a /, the text of another user is no flag.
kubectl annotate --namespace="$1" --overwrite -- "$3" "example.com/unschedulable=$2: $4"
