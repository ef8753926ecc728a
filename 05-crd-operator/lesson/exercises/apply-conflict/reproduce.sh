#!/bin/sh
# Makes a ConfigMap, and counts what is repaired while nobody changes its settings.
cd "$(dirname "$0")/../../.." || exit 1
. lesson/reproduce.sh
begin
kubectl create -f config/samples/settings.yaml >/dev/null
operator settings
kubectl wait --for=condition=InEffect settingslayers --all --timeout=60s >/dev/null
for i in 1 2 3; do
	kubectl annotate configmap settings note="$i" --overwrite
	sleep 1
done
grep -o '"apply".*' "$dir/operator.log" | sed 's/ namespace.*drift/ drift/'
kubectl get configmap settings --show-managed-fields -o jsonpath='{range .metadata.managedFields[*]}{.manager}: {.fieldsV1.f:data}{"\n"}{end}'
