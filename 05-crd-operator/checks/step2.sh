#!/bin/sh
# Step 2: what is generated was generated now, and is what is committed.
cd "$(dirname "$0")/.." || exit 1

if [ -z "$(find generated -name clientset.go -newer go.mod -newer config/samples/at.yaml 2>/dev/null)" ]; then
	echo "generated/ is older than this copy of the repository: sh generate.sh"
	exit 1
fi
if ! git diff --quiet -- generated config/crd config/rbac api; then
	echo "what was generated differs from what is committed: look at git diff"
	exit 1
fi
echo done
