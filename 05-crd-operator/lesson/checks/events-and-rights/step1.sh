#!/bin/sh
# The pod of an At that was deleted without its dependents lost its finalizer; an index was used.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q 'created the pod.*"orphan-pod"' orphan.log 2>/dev/null; then
	echo "orphan.log does not show yet that orphan-pod was created: create the At orphan while controllerruntime runs"
	exit 1
fi
if kubectl get at orphan >/dev/null 2>&1; then
	echo "the At orphan is still there: kubectl delete at orphan --cascade=orphan, while controllerruntime runs"
	exit 1
fi
if kubectl get pod orphan-pod >/dev/null 2>&1; then
	echo "the pod orphan-pod is still there: kubectl delete pod orphan-pod"
	exit 1
fi
if grep -q FAIL index.log 2>/dev/null || ! grep -q 'PASS: Example_fieldIndexer' index.log 2>/dev/null; then
	echo "index.log does not show that the example passes: run go test as the step does"
	exit 1
fi
echo done
