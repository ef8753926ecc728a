#!/bin/sh
# Step 5: the Ingress of the Service that was deleted unseen is gone, the other is there.
cd "$(dirname "$0")/../../.." || exit 1

if ! ingresses=$(kubectl --namespace=quay get ingress --output=name 2>&1); then
	echo "the cluster does not answer: $ingresses"
	exit 1
fi
if ! echo "$ingresses" | grep -q '/web$'; then
	echo "there is no Ingress web in the namespace quay yet: run observe/examples/ingress/run.sh -n quay --once"
	exit 1
fi
if echo "$ingresses" | grep -q '/shop$'; then
	echo "the Ingress shop is still there: run observe/examples/ingress/run.sh -n quay --once"
	exit 1
fi
if ! grep -q '^# [^ ]* Deleted .*quay shop' observe-missed.log 2>/dev/null; then
	echo "observe-missed.log has no line for the deletion of shop: run observe/examples/ingress/run.sh with -n quay --once"
	exit 1
fi
echo done
