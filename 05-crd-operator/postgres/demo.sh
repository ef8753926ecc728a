#!/bin/sh
# Builds a PostgresCluster of three members in the lab, kills its primary while a program writes,
# and counts the rows. make postgres-demo has started the lab and built the programs.
set -eu
cd "$(dirname "$0")"
bin=../../bin

begin=$(date +%s)
title() { printf '\n==> %ss: %s\n' $(($(date +%s) - begin)) "$*"; }

watch='' writer='' operator=''
end() {
	trap - EXIT
	kill $watch $writer $operator 2>/dev/null || : # unquoted: some may not be there
	wait 2>/dev/null || :
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

fail() {
	echo "error: $1; see what the operator did with kubectl get events, and its log in bin/postgres-operator.log" >&2
	exit 1
}
# settled waits until there are three members, and each commit is on two disks.
settled() {
	kubectl wait --for=jsonpath='{.status.phase}'=Running postgrescluster/demo --timeout=300s >/dev/null &&
		kubectl wait --for=jsonpath='{.status.replicas}'=3 postgrescluster/demo --timeout=300s >/dev/null &&
		kubectl wait --for=condition=Redundant postgrescluster/demo --timeout=300s >/dev/null ||
		fail "the cluster is not as it should be after five minutes"
}
status() { kubectl get postgrescluster demo -o jsonpath="{.status.$1}"; }

title "the image, the kind and the operator"
image=$(lab load $bin/postgres.tar | sed -n 's/^loaded //p')
kubectl apply -f config/crd
kubectl wait --for=condition=Established crd/postgresclusters.postgres.programming-kubernetes.info --timeout=300s >/dev/null
lab await 'kubectl get postgresclusters >/dev/null'
$bin/operator --image="$image" --service-type=NodePort >$bin/postgres-operator.log 2>&1 &
operator=$!

title "a cluster of three members, which join one by one"
kubectl apply -f config/samples/postgrescluster.yaml
# As a list: of a single object kubectl leaves out what changes while it starts.
kubectl get postgresclusters --field-selector=metadata.name=demo --watch &
watch=$!
settled
kill $watch
wait $watch 2>/dev/null || :
watch=
kubectl get pods -L postgres.programming-kubernetes.info/role

title "a program writes rows, as many as it can"
$bin/writer demo >$bin/postgres-writer.log 2>&1 &
writer=$!
# It ends by itself only if it cannot begin.
lab await --for=5m "grep -q 'is the first' $bin/postgres-writer.log || ! kill -0 $writer 2>/dev/null"
kill -0 $writer 2>/dev/null || { cat $bin/postgres-writer.log >&2; exit 1; }

primary=$(status primary) term=$(status term)
title "PostgreSQL of the primary, $primary, is killed with SIGKILL"
../lesson/signal.sh "$primary" postgres KILL
lab await --for=5m "test \$(kubectl get postgrescluster demo -o jsonpath={.status.term}) -gt $term" || fail "there was no election"
settled
kill $writer
wait $writer && lost= || lost=yes
writer=
cat $bin/postgres-writer.log
if [ "$lost" ]; then
	fail "the writer is not content"
fi
kubectl get postgresclusters
kubectl get pods -L postgres.programming-kubernetes.info/role

title "what the operator did"
uid=$(kubectl get postgrescluster demo -o jsonpath='{.metadata.uid}')
kubectl get events.events.k8s.io --field-selector=regarding.uid="$uid" --sort-by=.eventTime \
	-o jsonpath='{range .items[*]}{.eventTime}{"  "}{.reason}{": "}{.note}{"\n"}{end}' | cut -c 12-23,28-

cat <<END

The cluster goes on in the lab, without its operator: it takes writes, and nobody takes over for a
primary that fails. To go on, at the root of the repository:

    eval "\$(make -s env)"
    bin/operator --image=$image --service-type=NodePort &
    bin/writer demo
    kubectl delete postgrescluster demo

Or end it all: make lab-reset
END
