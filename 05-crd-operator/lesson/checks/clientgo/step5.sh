#!/bin/sh
# controller-gen has written the manifests as the Makefile of Kubebuilder calls it.
cd "$(dirname "$0")/../../.." || exit 1

for crd in config/crd/*.yaml; do
	if ! cmp -s "$crd" "bin/manifests/$(basename "$crd")"; then
		echo "bin/manifests does not have $crd as it is committed: run controller-gen"
		exit 1
	fi
done
if ! grep -q 'name: manager-role' bin/manifests/role.yaml 2>/dev/null; then
	echo "bin/manifests has no role yet: run controller-gen with rbac:roleName=manager-role"
	exit 1
fi
echo done
