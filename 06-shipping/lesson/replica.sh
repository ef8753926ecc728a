#!/bin/sh
# Runs a replica of bin/manager on this machine, with a name and ports of its own. They
# come from the environment, as in a pod:
#
#   lesson/replica.sh 1 --leader-elect=false
number=$1
shift
export POD_NAME="replica-$number" LEADER_ELECTION_NAMESPACE=default
export METRICS_BIND_ADDRESS="127.0.0.1:806$number" HEALTH_BIND_ADDRESS="127.0.0.1:807$number"
export METRICS_TOKEN_FILE=metrics.token # a client that presents it may read the metrics
exec bin/manager "$@"
