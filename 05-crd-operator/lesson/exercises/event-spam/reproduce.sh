#!/bin/sh
# Puts an At into a namespace whose quota is used up, and lets the use change.
cd "$(dirname "$0")/../../.." || exit 1
. lesson/reproduce.sh
events() { kubectl get events.events.k8s.io --field-selector regarding.name=nightly "$@"; }
noted() { [ "$(events -o name | wc -l)" -ge "$1" ]; }
begin
for i in 1 2 3 4; do
	kubectl run "other-$i" --image=busybox --restart=Never -- sleep 600 >/dev/null
done
kubectl create quota pods --hard=pods=1 >/dev/null
await is resourcequota/pods .status.used.pods 4
operator controllerruntime
at nightly 'echo YAY'
kubectl wait --for=condition=Scheduled=False at/nightly --timeout=2m >/dev/null
await noted 1
for i in 1 2 3; do
	kubectl delete pod "other-$i" --now >/dev/null
	await is resourcequota/pods .status.used.pods $((4 - i))
	within 15 noted $((i + 1)) || : # the operator tries again every ten seconds
done
events -o custom-columns=REASON:.reason,NOTE:.note
