#!/bin/sh
# Asks the API server where a manager may create pods that the chart installs for team-a. Needs
# a cluster in which the manager is not installed, such as the lab: eval "$(make -s env)" at
# the top of the repository.
set -eu
cd "$(dirname "$0")/../../.."
helm=$(GOWORK=off go -C ../tools/pinned/helm tool -n helm)
roles=$(mktemp)
"$helm" template cnat packaging/chart --namespace=cnat-system --set='namespaces={team-a}' --show-only=templates/role.yaml >"$roles"
end() {
	trap - EXIT INT TERM
	kubectl delete -f "$roles" --ignore-not-found >/dev/null
	kubectl delete namespace team-a >/dev/null
	rm -f "$roles"
}
kubectl create namespace team-a >/dev/null
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
kubectl create -f "$roles" >/dev/null
for namespace in team-a kube-system; do
	echo "create pods in $namespace: $(kubectl auth can-i create pods -n "$namespace" --as=system:serviceaccount:cnat-system:cnat-manager 2>/dev/null || :)"
done
