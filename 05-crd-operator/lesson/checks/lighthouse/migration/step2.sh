#!/bin/sh
# All objects are stored in v1beta1.
cd "$(dirname "$0")/../../../.." || exit 1

if [ "$(kubectl get storageversionmigration lighthouses -o jsonpath='{.status.conditions[?(@.type=="Succeeded")].status}' 2>/dev/null)" != True ]; then
	echo "the StorageVersionMigration lighthouses has not succeeded yet: kubectl create -f lighthouse/migration/migration.yaml"
	exit 1
fi
if [ "$(kubectl get crd lighthouses.coast.example.com -o jsonpath='{.status.storedVersions[*]}')" != v1beta1 ]; then
	echo "status.storedVersions of the CRD still has another version than v1beta1: see the conditions of the migration"
	exit 1
fi
echo done
