#!/bin/sh
# Step 7: OLM has installed v0.6.0 from the catalogue, and the operator works.
cd "$(dirname "$0")/../../.." || exit 1

if [ "$(kubectl get csv cnat.v0.6.0 -n operators -o jsonpath='{.status.phase}' 2>/dev/null)" != Succeeded ]; then
	echo "OLM has not installed cnat.v0.6.0: run opm, olm and catalog, apply packaging/olm/subscription.yaml, and approve the InstallPlan"
	exit 1
fi
if [ "$(kubectl get at example-at -o jsonpath='{.status.phase}' 2>/dev/null)" != DONE ]; then
	echo "the At example-at is not DONE: apply config/samples/at.yaml"
	exit 1
fi
echo done
