#!/bin/sh
# The manifest of the team has moved.
cd "$(dirname "$0")/../../../.." || exit 1

if ! kubectl get lighthouses.v1beta1.coast.example.com eddystone --show-managed-fields -o jsonpath='{range .metadata.managedFields[*]}{.manager} {.apiVersion}{"\n"}{end}' 2>/dev/null | grep -q '^team coast.example.com/v1beta1'; then
	echo "the field manager team has not applied eddystone in v1beta1 yet: apply the manifest that sed makes"
	exit 1
fi
echo done
