#!/bin/sh
# Asks the API server which Leases the manager may write. Needs a cluster in which the manager is
# not installed, such as the lab: eval "$(make -s env)" at the top of the repository.
cd "$(dirname "$0")/../../.." || exit 1
. lesson/reproduce.sh
clean() { roles delete --ignore-not-found; }
roles create
await allowed create leases -n cnat-system # it knows of a new role a moment later
for what in 'create leases' 'update leases/cnat-manager' 'update leases/their-controller'; do
	# unquoted: a verb and a resource
	echo "$what: $(kubectl auth can-i $what -n cnat-system --as=system:serviceaccount:cnat-system:cnat-manager || :)"
done
