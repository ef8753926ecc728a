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
wait=5 # seconds

kubectl apply -f "$here/config/crd"
kubectl wait --for=condition=established crd --all --timeout=2m >/dev/null

# make hands down the variables of its command line.
case ${PROGRAM-} in
*settings*)
	kubectl apply -f "$here/config/samples/settings.yaml"
	exec "$@"
	;;
esac

program='' watch=''
end() {
	trap - EXIT
	kill $watch $program 2>/dev/null || : # unquoted: there may be none
	wait 2>/dev/null || :
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
kubectl get at --field-selector=metadata.name=example-at --watch &
watch=$!
tries=60
until kubectl wait --for=jsonpath='{.status.phase}'=DONE at/example-at --timeout=2s >/dev/null 2>&1; do
	kill -0 "$program" 2>/dev/null || { wait "$program"; exit; } # it has said why
	tries=$((tries - 1))
	if [ "$tries" = 0 ]; then
		echo "the sample is not DONE after two minutes; see what the operator says above, and kubectl describe at example-at" >&2
		exit 1
	fi
done
sleep 1 # until the watch has shown that, too
end
kubectl logs example-at-pod
