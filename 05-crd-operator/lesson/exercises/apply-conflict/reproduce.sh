#!/bin/sh
# Makes a ConfigMap, and counts what is repaired while nobody changes its settings.
cd "$(dirname "$0")/../../.." || exit 1
. lesson/reproduce.sh
applied() { [ "$(grep -c '"apply"' "$dir/operator.log")" -gt "$i" ]; }
begin
kubectl create -f config/samples/settings.yaml >/dev/null
operator settings
kubectl wait --for=condition=InEffect settingslayers --all --timeout=2m >/dev/null
for i in 1 2 3; do
	kubectl annotate configmap settings note="$i" --overwrite
	within 3 applied || :
done
grep -o '"apply".*' "$dir/operator.log" | head -n 4 | sed 's/ namespace.*drift/ drift/'
kubectl get configmap settings --show-managed-fields -o jsonpath='{range .metadata.managedFields[*]}{.manager}: {.fieldsV1.f:data}{"\n"}{end}'
