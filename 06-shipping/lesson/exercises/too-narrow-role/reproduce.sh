#!/bin/sh
# Makes the Lease of a new cluster as the manager. Needs a cluster in which the manager is
# not installed, such as the lab: eval "$(make -s env)" at the top of the repository.
cd "$(dirname "$0")/../../.." || exit 1
. lesson/reproduce.sh
clean() { roles delete --ignore-not-found; }
as_manager() { kubectl --as=system:serviceaccount:cnat-system:cnat-manager -n cnat-system "$@" 2>&1 || :; }
roles create
await allowed get leases/cnat-manager -n cnat-system # it knows of a new role a moment later
echo "get the Lease: $(as_manager get lease cnat-manager)"
lease='{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "cnat-manager"}}'
echo "create the Lease: $(echo "$lease" | as_manager create -f -)"
