#!/bin/sh
# Changes the ConfigMap in four ways, and gives the operator five seconds to undo each.
cd "$(dirname "$0")/../../.." || exit 1
. lesson/reproduce.sh
show() { kubectl get configmap settings --ignore-not-found -o jsonpath='{.data} {.metadata.labels} {.metadata.ownerReferences[*].name}'; }
other() {
	echo "kubectl $*"
	kubectl "$@" >/dev/null
	if within 5 undone; then echo '  undone'; else echo '  stays'; fi
}
undone() { [ "$(show)" = "$good" ]; }
begin
operator settings
kubectl create -f config/samples/settings.yaml >/dev/null
kubectl wait --for=condition=InEffect settingslayers --all --timeout=2m >/dev/null
good=$(show)
other patch configmap settings -p '{"data":{"colour":"red"}}'
other delete configmap settings
other label configmap settings app.kubernetes.io/managed-by-
other patch configmap settings --type=merge -p '{"metadata":{"ownerReferences":null}}'
