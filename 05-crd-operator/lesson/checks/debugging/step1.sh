#!/bin/sh
# Step 1: a pod was deleted, and its finalizer and the program that set it were found.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q 'bell-pod.*T.*Z.*cnat.programming-kubernetes.info/tracking.*controllerruntime' stuck.log 2>/dev/null; then
	echo "stuck.log does not show a deleted bell-pod with the finalizer of the operator: stop the operator, delete the pod, and print it"
	exit 1
fi
echo done
