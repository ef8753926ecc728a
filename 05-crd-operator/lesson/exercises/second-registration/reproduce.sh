#!/bin/sh
# Registers a Lighthouse with an office that forgets tokens after a second, and doesn't answer its first calls.
cd "$(dirname "$0")/../../.." || exit 1
. lesson/reproduce.sh
finish() {
	kubectl delete lighthouses --all --ignore-not-found >/dev/null 2>&1 || :
	kubectl delete -f lighthouse/operator/config/crd --ignore-not-found >/dev/null 2>&1 || :
	end
}
opened() { grep -q 'opens on' "$dir/office.log"; }
begin
trap finish EXIT
kubectl apply -f lighthouse/operator/config/crd >/dev/null
kubectl wait --for=condition=Established --timeout=2m crd/lighthouses.coast.example.com >/dev/null
kubectl create secret generic light-list --from-literal=token=trinity >/dev/null
go build -o "$dir/" ./lighthouse/office ./lighthouse/operator
OFFICE_TOKEN=trinity "$dir/office" -listen=127.0.0.1:0 -takes=1s -forgets=1s >>"$dir/office.log" 2>&1 &
jobs="$jobs $!"
await opened
office=$(sed -n 's/.*opens on /http:\/\//p' "$dir/office.log")
curl -sS -X PUT -d '{"next": ["late", "late"]}' "$office/admin/settings"
"$dir/operator" -office="$office" --kubeconfig="$dir/kubeconfig" >>"$dir/operator.log" 2>&1 &
jobs="$jobs $!"
await kubectl apply -f lighthouse/office/eddystone.yaml >/dev/null
kubectl wait --for=condition=Ready --timeout=2m lighthouse/eddystone >/dev/null
echo 'eddystone is Ready'
echo "registrations that the office has billed: $(curl -sS "$office/admin/books" | grep -o '"registered"' | wc -l | tr -d ' ')"
