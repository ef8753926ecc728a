#!/bin/sh
# Each deletion policy was seen.
cd "$(dirname "$0")/../../../.." || exit 1

if ! grep -q '^ship.*foregroundDeletion' policies.log 2>/dev/null; then
	echo "policies.log does not show yet an owner that waits for its dependent: delete ship with --cascade=foreground"
	exit 1
fi
if ! grep -q '^boat *<none> *<none>' policies.log; then
	echo "policies.log does not show an orphan: delete ship with --cascade=orphan"
	exit 1
fi
if [ -n "$(kubectl get configmaps ship boat --ignore-not-found -o name)" ]; then
	echo "ship or boat is still there: remove the finalizer of boat, and kubectl delete configmap ship boat"
	exit 1
fi
echo done
