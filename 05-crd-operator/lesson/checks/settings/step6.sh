#!/bin/sh
# A ReplicaSet has adopted a pod, and settings has left an orphan alone.
cd "$(dirname "$0")/../../.." || exit 1

if [ "$(awk '$2 == "web" { print $1 }' adoption.log 2>/dev/null | sort -u | wc -l)" -ne 1 ] ||
	[ "$(awk '$2 == "web" { print $3 }' adoption.log | sort -u | wc -l)" -lt 2 ]; then
	echo "adoption.log does not show one pod of two ReplicaSets yet: delete web with --cascade=orphan, and create it again (rm adoption.log first)"
	exit 1
fi
if ! grep -q 'it was not made from layers' orphan.log 2>/dev/null; then
	echo "orphan.log does not show yet that the ConfigMap was left alone: delete the layers with --cascade=orphan, and apply them again, while settings runs"
	exit 1
fi
if [ "$(kubectl get configmap settings -o jsonpath='{.metadata.ownerReferences[*].name}' 2>/dev/null | wc -w)" -ne 3 ]; then
	echo "the ConfigMap settings does not have three owners: delete it while settings runs"
	exit 1
fi
echo done
