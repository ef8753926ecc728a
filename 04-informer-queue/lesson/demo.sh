#!/bin/sh
# Runs a program while the demo workload scales up and down:
#
#	demo.sh PROGRAM [ARGS...]
#
# The program takes the place of this shell, so it gets all signals. The scaling
# ends within a second of it, whatever ended it.
scale() {
	# luck: it ends with the program
	while :; do
		for replicas in 2 4 3 1; do
			kubectl --namespace=harbour scale deployment/cranes --replicas="$replicas"
			for _ in 1 2 3 4 5; do
				kill -0 $$ || return # $$ is the program
				sleep 1
			done
		done
	done
}

scale >/dev/null 2>&1 &
exec "$@"
