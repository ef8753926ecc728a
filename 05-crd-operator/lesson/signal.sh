#!/bin/sh
# Sends a signal to a process of a PostgresCluster's member. In the lab the processes of pods are
# processes of this machine.
#
#	signal.sh MEMBER agent|postgres SIGNAL
set -eu
member=$1 process=$2 signal=$3

claim=$(kubectl get pvc "$member" -o jsonpath='{.spec.volumeName}')
volume=$(kubectl get pv "$claim" -o jsonpath='{.spec.hostPath.path}')
if ! read -r postgres <"$volume/database/postmaster.pid"; then
	echo "error: no PostgreSQL runs in $member; see kubectl logs $member" >&2
	exit 1
fi
case $process in
postgres) pid=$postgres ;;
agent) pid=$(ps -o ppid= -p "$postgres") ;;
*)
	echo "error: $process is neither agent nor postgres" >&2
	exit 1
	;;
esac
kill -s "$signal" "$((pid))"
