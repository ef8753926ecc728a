#!/bin/sh
# Runs an operator, and lets it run the sample of the book, due in a few seconds:
#
#	demo.sh PROGRAM [ARGS...]
#
# The operator for settings has nothing to do with time. It gets its own sample
# and goes on until Ctrl-C.
set -eu
here=$(dirname "$0")/..
at=$here/config/samples/at.yaml
wait=8 # seconds

kubectl apply -f "$here/config/crd"
kubectl wait --for=condition=established crd --all --timeout=2m >/dev/null

# make hands down the variables of its command line.
case ${PROGRAM-} in
*settings*)
	kubectl apply -f "$here/config/samples/settings.yaml"
	exec "$@"
	;;
esac

dir=$(mktemp -d)
program='' watch=''
end() {
	trap - EXIT
	kill $watch $program 2>/dev/null || : # unquoted: there may be none
	wait 2>/dev/null || :
	rm -r "$dir"
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

"$@" &
program=$!

# Of an earlier run. The garbage collector deletes the pod, and the operator lets it go.
kubectl delete -f "$at" --ignore-not-found >/dev/null
kubectl wait --for=delete pod/example-at-pod --timeout=2m >/dev/null

due=$(($(date +%s) + wait))
# GNU's date and BSD's differ in how they are told a time.
schedule=$(date -u -d "@$due" +%Y-%m-%dT%H:%M:%SZ 2>/dev/null || date -u -r "$due" +%Y-%m-%dT%H:%M:%SZ)
sed "s/schedule: .*/schedule: \"$schedule\"/" "$at" | kubectl apply -f -

# As a list: of a single object kubectl leaves out what changes while it starts.
mkfifo "$dir/watch"
kubectl get at --field-selector=metadata.name=example-at --watch --request-timeout=2m >"$dir/watch" &
watch=$!
# When the operator ends, the watch has nothing more to show.
{ while kill -0 "$program" 2>/dev/null; do sleep 1; done; kill "$watch" 2>/dev/null; } & # luck: it ends with the operator
phase=
while [ "$phase" != DONE ] && IFS= read -r line; do
	printf '%s\n' "$line"
	case $line in *' DONE '*) phase=DONE ;; esac
done <"$dir/watch"
if [ "$phase" != DONE ]; then
	kill -0 "$program" 2>/dev/null || { wait "$program"; exit; } # it has said why
	echo "the sample is not DONE after two minutes; see what the operator says above, and kubectl describe at example-at" >&2
	exit 1
fi
# It has one more thing to do: the pod keeps its finalizer until the operator has seen its end. Without the operator
# nobody would take it off, and the pod could never be deleted.
tracked() { kubectl get pod example-at-pod -o jsonpath='{.metadata.finalizers}' | grep -q programming-kubernetes; }
for _ in $(seq 60); do
	tracked || break
	sleep 1
done
end
kubectl logs example-at-pod
kubectl delete -f "$at" >/dev/null
