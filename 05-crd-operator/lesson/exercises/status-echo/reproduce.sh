#!/bin/sh
# Writes conditions that are none of the operator's business, and prints what it does about each.
# A pod is in the way of the At, so each reconcile tries once to create the At's own.
cd "$(dirname "$0")/../../.." || exit 1
. lesson/reproduce.sh
tried() { grep -c '"POST" url="[^"]*/pods' "$dir/proxy.log" || :; }
more() { [ "$(tried)" -gt "$before" ]; }
begin
kubectl run example-at-pod --image=busybox --restart=Never -- sleep 600 >/dev/null
through
operator clientgo
at example-at 'echo YAY'
kubectl wait --for=condition=Scheduled=False at/example-at --timeout=2m >/dev/null
for i in 1 2 3 4 5; do
	before=$(tried)
	kubectl patch at example-at --subresource=status --type=json -p "[{\"op\":\"add\",\"path\":\"/status/conditions/-\",\"value\":
		{\"type\":\"Seen$i\",\"status\":\"True\",\"reason\":\"Dashboard\",\"message\":\"\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}}]" >/dev/null
	if within 2 more; then
		echo "Seen$i is written: the operator reconciles the At"
	else
		echo "Seen$i is written: the operator does nothing"
	fi
done
