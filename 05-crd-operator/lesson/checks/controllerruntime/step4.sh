#!/bin/sh
# Two Ats had something in the way, and were run when it was gone.
cd "$(dirname "$0")/../../.." || exit 1

for at in default/foreign full/refused; do
	if [ "$(kubectl -n "${at%/*}" get at "${at#*/}" -o jsonpath='{.status.conditions[?(@.type=="Complete")].status}' 2>/dev/null)" != True ]; then
		echo "the At $at is not complete yet: remove what is in its way while controllerruntime runs"
		exit 1
	fi
done
if ! kubectl get events.events.k8s.io 2>/dev/null | grep -q PodNameTaken; then
	echo "there is no event PodNameTaken: create the pod foreign-pod before the At foreign"
	exit 1
fi
if ! kubectl -n full get events.events.k8s.io 2>/dev/null | grep -q CreationRefused; then
	echo "there is no event CreationRefused in the namespace full: create the quota before the At refused"
	exit 1
fi
echo done
