#!/bin/sh
# observe namespaces -l quota=default -a '{.status.phase}' -- ./quota.sh
# Gives each namespace with the label quota=default a ResourceQuota and a LimitRange. One that is being deleted takes nothing new.
case $1:$2 in kube-*:* | *:Terminating) exit ;; esac
kubectl apply --namespace="$1" --filename=- <<'END'
{apiVersion: v1, kind: ResourceQuota, metadata: {name: default}, spec: {hard: {pods: "50", limits.memory: 20Gi}}}
---
{apiVersion: v1, kind: LimitRange, metadata: {name: default}, spec: {limits: [{type: Container, default: {memory: 256Mi}}]}}
END
