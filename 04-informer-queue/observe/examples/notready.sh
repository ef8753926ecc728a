#!/bin/sh
# observe nodes -a '{.status.conditions[?(@.type=="Ready")].status}' -a '{.status.conditions[?(@.type=="Ready")].lastTransitionTime}' -a '{.metadata.annotations.example\.com/mailed}' -- ./notready.sh
# Mails a line for each node that is NotReady, once for each time that it happens.
set -eu
if test "$2" = True || test "$3" = "$4"; then
	exit
fi
echo "Subject: node $1 is NotReady since $3" | ${MAILER:-sendmail root}
kubectl annotate node "$1" --overwrite "example.com/mailed=$3"
