#!/bin/sh
# clientgo has taken an At through its phases.
cd "$(dirname "$0")/../../.." || exit 1

if ! kubectl get crd ats.cnat.programming-kubernetes.info >/dev/null 2>&1; then
	echo "the API server does not know Ats yet: kubectl apply -f config/crd"
	exit 1
fi
for phase in PENDING RUNNING DONE; do
	if ! grep -q "wrote the status.*soon.*$phase" clientgo.log 2>/dev/null; then
		echo "clientgo.log does not show that soon became $phase: create the At while bin/clientgo runs"
		exit 1
	fi
done
if [ "$(kubectl logs soon-pod 2>/dev/null)" != YAY ]; then
	echo "the pod soon-pod has not printed YAY: run clientgo until the At soon is DONE"
	exit 1
fi
echo done
