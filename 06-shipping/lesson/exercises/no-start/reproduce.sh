#!/bin/sh
# Puts the changed scheduler in place, and looks at what comes of it, from outside and on the node.
# Needs a running lab that is selected: eval "$(make -s env)" at the top of the repository.
set -eu
cd "$(dirname "$0")/../../../controlplane"
image=$(mktemp -d)/scheduler.tar
end() {
	trap - EXIT INT TERM
	rm -rf "${image%/*}"
	lab up --static-pods=false >/dev/null
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

lab up --static-pods >/dev/null
GOWORK=off go run ./image ./scheduler kube-scheduler:no-start "$image"
lab load "$image"
sh scheduler/place.sh kube-scheduler:no-start
sleep 30
echo "what kubectl shows:"
kubectl get pods -n kube-system kube-scheduler-lab-node
kubectl logs -n kube-system kube-scheduler-lab-node 2>&1 | tail -n 1
echo "what the node shows:"
lab status | grep kube-scheduler
lab crictl ps -a | grep kube-scheduler:no-start || echo "there was no container, ever"
