#!/bin/sh
# Two replicas without a Lease have both worked, and there is one pod for each At.
cd "$(dirname "$0")/../../.." || exit 1

if [ "$(grep -c 'POST 201' counts.log 2>/dev/null)" != 2 ] || ! grep -q ' 409: ' counts.log; then
	echo "counts.log does not show yet that both replicas have worked, with conflicts: run two with --leader-elect=false, and apply twenty Ats"
	exit 1
fi
if [ -n "$(kubectl get at -o name)" ]; then
	echo "there are Ats still: kubectl delete at --all"
	exit 1
fi
echo done
