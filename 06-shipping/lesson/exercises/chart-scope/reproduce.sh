#!/bin/sh
# Asks the API server where a manager may create pods that the chart installs for team-a. Needs
# a cluster in which the manager is not installed, such as the lab: eval "$(make -s env)" at
# the top of the repository.
cd "$(dirname "$0")/../../.." || exit 1
. lesson/reproduce.sh
clean() {
	kubectl delete -f "$dir/roles.yaml" --ignore-not-found
	kubectl delete namespace team-a --ignore-not-found
}
helm=$(GOWORK=off go -C ../tools/pinned/helm tool -n helm)
"$helm" template cnat packaging/chart --namespace=cnat-system --set='namespaces={team-a}' --show-only=templates/role.yaml >"$dir/roles.yaml"
kubectl create namespace team-a >/dev/null
kubectl create -f "$dir/roles.yaml" >/dev/null
await allowed create pods -n team-a # it knows of a new role a moment later
for namespace in team-a kube-system; do
	echo "create pods in $namespace: $(kubectl auth can-i create pods -n "$namespace" --as=system:serviceaccount:cnat-system:cnat-manager 2>/dev/null || :)"
done
