#!/bin/sh
# Step 8: the rights were asked for, v0.6.1 was installed, and the operator is gone.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q '^update leases/cnat-manager -n kube-system: yes' rights.log 2>/dev/null; then
	echo "rights.log does not show the right to Leases in kube-system: ask for it while the operator is installed"
	exit 1
fi
if ! grep -q '^cnat.v0.6.1 .*Succeeded' csv.log 2>/dev/null; then
	echo "csv.log does not show that OLM has upgraded to cnat.v0.6.1: approve its InstallPlan"
	exit 1
fi
if kubectl get deployment cnat-manager -n operators >/dev/null 2>&1; then
	echo "the operator is still installed: delete its Subscription and its ClusterServiceVersion"
	exit 1
fi
echo done
