#!/bin/sh
# Writes conditions that are none of the operator's business, and counts what it does about them.
# A pod is in the way of the At, so each reconcile tries once to create the At's own.
cd "$(dirname "$0")/../../.." || exit 1
. lesson/reproduce.sh
tried() { grep -c '"POST" url="[^"]*/pods' "$dir/proxy.log" || :; }
begin
kubectl run example-at-pod --image=busybox --restart=Never -- sleep 600 >/dev/null
through
operator clientgo
at example-at 'echo YAY'
kubectl wait --for=condition=Scheduled=False at/example-at --timeout=60s >/dev/null
before=$(tried)
for i in $(seq 10); do
	kubectl patch at example-at --subresource=status --type=json -p "[{\"op\":\"add\",\"path\":\"/status/conditions/-\",\"value\":
		{\"type\":\"Seen$i\",\"status\":\"True\",\"reason\":\"Dashboard\",\"message\":\"\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}}]" >/dev/null
done
sleep 1
echo "writes of a condition: 10, reconciles: $(($(tried) - before))"
