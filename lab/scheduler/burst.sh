#!/bin/sh
# Starts twelve pods at the same time, and counts them by node: burst.sh SCHEDULER
set -eu
cd "$(dirname "$0")"
kubectl delete job burst --ignore-not-found --cascade=foreground >/dev/null
sed "s/schedulerName: spread-starts.*/schedulerName: $1/" burst.yaml | kubectl apply -f - >/dev/null
nodes() { kubectl get pods -l app=burst -o jsonpath='{range .items[*]}{.spec.nodeName}{"\n"}{end}'; }
until [ "$(nodes | grep -c .)" = 12 ]; do sleep 0.2; done
nodes | sort | uniq -c
