#!/bin/sh
# Step 6: an annotation became a manifest, and then was refused.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -qs '^configmap/gift ' observe-naive.log; then
	echo "observe-naive.log does not show the ConfigMap gift yet: annotate the Service web, and run observe with ./observe-naive.sh"
	exit 1
fi
if ! grep -qs 'is no host name' observe-host.log; then
	echo "observe-host.log does not show yet that apply.sh refuses the annotation: run observe/examples/ingress/run.sh with it"
	exit 1
fi
echo done
