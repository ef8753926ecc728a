#!/bin/sh
# Runs a command with a pipe.
cd "$(dirname "$0")/../../.." || exit 1
. lesson/reproduce.sh
begin
operator controllerruntime
at greeting 'echo "Good  day" | tr a-z A-Z'
kubectl get at greeting -o jsonpath='{.spec.command}{"\n"}'
await is at/greeting .status.phase DONE
kubectl logs greeting-pod
