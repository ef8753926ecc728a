#!/bin/sh
# Another manager has kept its annotation, and lost the keys to the operator.
cd "$(dirname "$0")/../../../.." || exit 1

if ! grep -q 'drift=true why="no layer has anchor"' force.log 2>/dev/null; then
	echo "force.log does not show yet that the key anchor was removed: apply it with --force-conflicts, and run settings"
	exit 1
fi
if [ "$(kubectl get configmap settings -o jsonpath='{.data.colour}{.data.anchor} {.metadata.annotations.note}' 2>/dev/null)" != "green mine" ]; then
	echo "the ConfigMap should have the colour green, no anchor, and the annotation note: mine; do the step again"
	exit 1
fi
echo done
