#!/bin/sh
# Makes a pod that is owned by an At, and not made for it.
cd "$(dirname "$0")/../../.." || exit 1
. lesson/reproduce.sh
# luck: a try of many
reported() { is at/backup .status.phase DONE || kubectl wait --for=condition=Scheduled=False at/backup --timeout=1s >/dev/null 2>&1; }
begin
at backup 'echo the backup is written' 2099-01-01T00:00:00Z
kubectl create -f - >/dev/null <<END
apiVersion: v1
kind: Pod
metadata:
  name: backup-pod
  labels: {app.kubernetes.io/managed-by: cnat}
  ownerReferences:
  - {apiVersion: cnat.programming-kubernetes.info/v1alpha1, kind: At, name: backup, uid: $(kubectl get at backup -o jsonpath='{.metadata.uid}')}
spec:
  restartPolicy: Never
  containers:
  - {name: check, image: busybox, command: [echo, the volume is there]}
END
await is pod/backup-pod .status.phase Succeeded
operator controllerruntime
kubectl patch at backup --type=merge -p '{"spec":{"schedule":"2019-04-12T10:12:00Z"}}' >/dev/null
await reported
kubectl get at backup -o jsonpath='{range .status.conditions[*]}{.type}={.status} {.reason}: {.message}{"\n"}{end}'
kubectl logs backup-pod
