#!/bin/sh
# settings has left an orphan alone.
cd "$(dirname "$0")/../../../.." || exit 1

if ! grep -q 'it was not made from layers' orphan.log 2>/dev/null; then
	echo "orphan.log does not show yet that the ConfigMap was left alone: delete the layers with --cascade=orphan, and apply them again, while settings runs"
	exit 1
fi
if [ "$(kubectl get configmap settings -o jsonpath='{.metadata.ownerReferences[*].name}' 2>/dev/null | wc -w)" -ne 3 ]; then
	echo "the ConfigMap settings does not have three owners: delete it while settings runs"
	exit 1
fi
echo done
