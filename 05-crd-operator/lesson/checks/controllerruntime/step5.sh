#!/bin/sh
# An At that was older than the rule said what was wrong, and was run when that was corrected.
cd "$(dirname "$0")/../../.." || exit 1

if [ "$(kubectl get at older -o jsonpath='{.status.conditions[?(@.type=="Complete")].status}' 2>/dev/null)" != True ]; then
	echo "the At older is not complete yet: correct its schedule while controllerruntime runs"
	exit 1
fi
if ! kubectl get events.events.k8s.io 2>/dev/null | grep -q InvalidSchedule; then
	echo "there is no event InvalidSchedule: create the At older with the schedule tomorrow, while the CRD has no rule"
	exit 1
fi
if sed 's/example-at/wrong/; s/2019-04-12T10:12:00Z/tomorrow/' config/samples/at.yaml | kubectl create --dry-run=server -f - >/dev/null 2>&1; then
	echo "the CRD takes any schedule: kubectl apply -f config/crd/cnat.programming-kubernetes.info_ats.yaml"
	exit 1
fi
echo done
