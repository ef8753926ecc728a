#!/bin/sh
# Puts a pod in the way of an At, changes the deadline, and waits until the operator has seen that.
cd "$(dirname "$0")/../../.." || exit 1
. lesson/reproduce.sh
begin
kubectl run report-pod --image=busybox --restart=Never -- sleep 600 >/dev/null
operator controllerruntime
at report 'echo final'
kubectl wait --for=condition=Scheduled=False at/report --timeout=2m
kubectl patch at report --type=merge -p '{"spec":{"startingDeadlineSeconds":3000000000}}'
# luck: with the mistake it never comes, and without it the limit is far
kubectl wait --for=condition=Scheduled=False at/report --timeout=10s || :
kubectl get at report -o custom-columns='GENERATION:.metadata.generation,OBSERVED:.status.conditions[0].observedGeneration,SCHEDULED:.status.conditions[0].status,REASON:.status.conditions[0].reason'
