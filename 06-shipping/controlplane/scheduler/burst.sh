#!/bin/sh
# Starts twelve pods at the same time, and counts them by node: burst.sh SCHEDULER
set -eu
cd "$(dirname "$0")"
kubectl delete job burst --ignore-not-found --cascade=foreground >/dev/null
sed "s/schedulerName: spread-starts.*/schedulerName: $1/" burst.yaml | kubectl apply -f - >/dev/null
nodes() { kubectl get pods -l app=burst -o jsonpath='{range .items[*]}{.spec.nodeName}{"\n"}{end}'; }
tries=600 # of half a second and more
until [ "$(nodes | grep -c .)" = 12 ]; do
	if [ $((tries -= 1)) = 0 ]; then
		echo "burst.sh: after five minutes, not all pods have a node; does the scheduler run? lab status" >&2
		exit 1
	fi
	sleep 0.5
done
nodes | sort | uniq -c
