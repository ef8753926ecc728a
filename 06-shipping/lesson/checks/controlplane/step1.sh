#!/bin/sh
# Step 1: the pod of nobody was bound by hand.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q '^unplaced .*Running' bound.log 2>/dev/null; then
	echo "bound.log does not show that the pod unplaced runs: create its Binding"
	exit 1
fi
echo done
