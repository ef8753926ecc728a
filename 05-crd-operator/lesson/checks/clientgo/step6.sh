#!/bin/sh
# The manifest of the book has run, as nobody; first/ ran as root; and a strict
# namespace refused a pod like the book's.
cd "$(dirname "$0")/../../.." || exit 1

if [ "$(kubectl get at example-at -o jsonpath='{.metadata.labels.controller-tools\.k8s\.io} {.status.phase}' 2>/dev/null)" != "1.0 DONE" ]; then
	echo "the At example-at of the book, with its label, is not DONE: apply it while bin/clientgo runs"
	exit 1
fi
if [ "$(kubectl logs example-at-pod 2>/dev/null)" != YAY ]; then
	echo "the pod example-at-pod has not printed YAY: delete the At example-at, and apply it again"
	exit 1
fi
# The user is that of the pod. What id prints is another on a lab that cannot change it.
user() { kubectl get pod "$1" -o jsonpath='{.spec.securityContext.runAsUser}' 2>/dev/null; }
if [ "$(user here-pod)" != 65534 ] || ! kubectl logs here-pod 2>/dev/null | grep -q '^uid='; then
	echo "the pod here-pod has not run as user 65534: create the At here while bin/clientgo runs"
	exit 1
fi
if [ -n "$(user book-pod)" ] || ! kubectl logs book-pod 2>/dev/null | grep -q '^uid='; then
	echo "the pod book-pod has not run as the user of its image: create the At book while bin/first runs, and nothing else"
	exit 1
fi
if ! grep -q 'violates PodSecurity' strict.log 2>/dev/null; then
	echo "strict.log does not show that the namespace strict refused a pod: label it, and run the pod"
	exit 1
fi
if [ "$(kubectl -n strict get at example-at -o jsonpath='{.status.phase}' 2>/dev/null)" != DONE ]; then
	echo "the At example-at in the namespace strict is not DONE: run bin/clientgo -n strict"
	exit 1
fi
echo done
