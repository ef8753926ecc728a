#!/bin/sh
# The operator has seen the second generation of an At.
cd "$(dirname "$0")/../../.." || exit 1

if [ "$(kubectl get at seen -o jsonpath='{.metadata.generation} {.status.conditions[0].observedGeneration}' 2>/dev/null)" != "2 2" ]; then
	echo "the condition of the At seen is not about its generation 2: change its schedule, and run the operator again"
	exit 1
fi
echo done
