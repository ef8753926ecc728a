#!/bin/sh
# The priority of a layer was changed twice, and each change led to one apply.
cd "$(dirname "$0")/../../../.." || exit 1

if [ "$(grep -c '"apply".*drift=false.*colour' priority.log 2>/dev/null)" != 2 ]; then
	echo "priority.log does not show two applies yet: raise the priority of the layer defaults, and apply config/samples/settings.yaml again, while settings runs"
	exit 1
fi
if [ "$(kubectl get layer site -o jsonpath='{.status.conditions[0].reason}' 2>/dev/null)" != Merged ]; then
	echo "the layer site is not Merged: apply config/samples/settings.yaml, and run settings"
	exit 1
fi
echo done
