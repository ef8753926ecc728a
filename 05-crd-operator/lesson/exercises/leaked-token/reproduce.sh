#!/bin/sh
# Lets the office break once, and looks for its token in the log of the operator.
cd "$(dirname "$0")/../../.." || exit 1
. lesson/reproduce.sh
logged() { grep -q 'the office answers 500' "$dir/operator.log"; }
coast
settings '{"next": ["500"]}'
kubectl patch lighthouse eddystone --type=merge -p '{"spec": {"flash": "long"}}'
await logged
printf 'in the log: the office answers 500 Internal Server Error'
if grep -q trinity "$dir/operator.log"; then
	echo ', and trinity'
else
	echo ', and no token'
fi
