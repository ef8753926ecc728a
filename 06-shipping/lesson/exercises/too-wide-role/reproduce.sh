#!/bin/sh
# Asks the API server which Leases the manager may write. Needs a cluster in which the manager is
# not installed, such as the lab: eval "$(make -s env)" at the top of the repository.
set -eu
cd "$(dirname "$0")/../../.."
kubectl create namespace cnat-system >/dev/null
end() {
	trap - EXIT INT TERM
	kubectl delete -f config/rbac/role.yaml -f config/rbac/role_binding.yaml --ignore-not-found >/dev/null
	kubectl delete namespace cnat-system >/dev/null
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
kubectl create -f config/rbac/role.yaml -f config/rbac/role_binding.yaml >/dev/null
for what in 'create leases' 'update leases/cnat-manager' 'update leases/their-controller'; do
	# unquoted: a verb and a resource
	echo "$what: $(kubectl auth can-i $what -n cnat-system --as=system:serviceaccount:cnat-system:cnat-manager || :)"
done
