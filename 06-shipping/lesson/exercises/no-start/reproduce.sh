#!/bin/sh
# Puts the changed scheduler in place, and looks at what comes of it, from outside and on the node.
# Needs a running lab that is selected: eval "$(make -s env)" at the top of the repository.
cd "$(dirname "$0")/../../.." || exit 1
. lesson/reproduce.sh
clean() { lab up --static-pods=false; }
mirrored() { kubectl get pods -n kube-system kube-scheduler-lab-node -o jsonpath='{.spec.containers[0].image}' 2>/dev/null | grep -q kube-scheduler:no-start; }
contained() { lab crictl ps -a | grep kube-scheduler:no-start; }
# none is true when the container of the stock scheduler has been removed, too.
none() { lab status | grep '^kube-scheduler .*no container' >/dev/null; }
cd controlplane

lab up --static-pods >/dev/null
echo "building the scheduler (a minute the first time)"
GOWORK=off go run ./image ./scheduler kube-scheduler:no-start "$dir/scheduler.tar" >"$dir/image.log" 2>&1 || { cat "$dir/image.log" && exit 1; }
lab load "$dir/scheduler.tar"
sh scheduler/place.sh kube-scheduler:no-start
await mirrored
within 20 contained >/dev/null || await none
echo "what kubectl shows:"
kubectl get pods -n kube-system kube-scheduler-lab-node
kubectl logs -n kube-system kube-scheduler-lab-node 2>&1 | tail -n 1
echo "what the node shows:"
lab status | grep '^kube-scheduler '
contained || echo "there was no container, ever"
