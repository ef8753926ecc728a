#!/bin/sh
# From a commit to an operator that has worked for a while: pipeline.sh [STAGE...]
# Without a stage, it runs all of them. The first that fails ends it.
#   unit      vet, and the tests that need nothing
#   envtest   the tests that need an API server, whose programs are in KUBEBUILDER_ASSETS
#   image     out/image.tar, made by BUILDER, the workshop's bin/image
#   chart     out/NAME-VERSION.tgz, after the linter has read it
#   smoke     LOAD brings the image into the cluster of KUBECONFIG; the chart is installed, and smoke.sh run
#   soak      the pod is deleted, and smoke.sh run again and again, for SOAK seconds
# shellcheck disable=SC2046,SC2086 # a word of go list is a package, and LOAD is a command with its arguments
set -eu
cd "$(dirname "$0")"
: "${BUILDER:=image}" "${HELM:=helm}" "${LOAD:=lab load}" "${SOAK:=60}" "${VERSION:=v0.1.0}"
export GOWORK=off # as in a clone that stands alone
name=$(sed -n 's/^name: //p' chart/Chart.yaml)
mkdir -p out && echo '*' >out/.gitignore

# run_tests tests the packages whose tests import what starts an API server, or the others.
run_tests() {
	set -- $(go list -f '{{.ImportPath}} {{.TestImports}} {{.XTestImports}}' ./... |
		awk -v server="$1" '(/envtest|testcluster/ ? "with" : "without") == server { print $1 }')
	[ $# -eq 0 ] || go test "$@"
}
unit() { go vet ./... && run_tests without; }
envtest() { run_tests with; }
image() {
	command "$BUILDER" --platform="$(go env GOOS)/$(go env GOARCH)" --version="$VERSION" --output="$PWD/out/image.tar" >out/image.log
	cat out/image.log
}
chart() {
	"$HELM" lint --strict chart
	"$HELM" package chart --version="${VERSION#v}" --app-version="$VERSION" --destination=out
}
smoke() {
	$LOAD out/image.tar
	"$HELM" upgrade --install "$name" "out/$name-${VERSION#v}.tgz" -n "$name" --create-namespace \
		--set=image="$(sed -n 's/^made \(.*\) of revision .*/\1/p' out/image.log)"
	kubectl rollout restart "deployment/$name" -n "$name" # the image may be new, and its tag the same
	kubectl rollout status "deployment/$name" -n "$name" --timeout=2m
	sh smoke.sh
}
soak() {
	kubectl delete pods -n "$name" --all --wait=false # as a drain does; the next one has to last
	end=$(($(date +%s) + SOAK)) rounds=0
	while [ "$(date +%s)" -lt "$end" ]; do
		sh smoke.sh >out/smoke.log 2>&1 || { cat out/smoke.log && return 1; }
		rounds=$((rounds + 1)) && printf .
	done
	# A panic is a restart, and so is a leak that has reached the limit on memory.
	restarts=$(kubectl get pods -n "$name" -o jsonpath='{.items[*].status.containerStatuses[*].restartCount}')
	case $restarts in *[1-9]*) echo "containers were restarted: $restarts" >&2 && return 1 ;; esac
	echo " $rounds rounds in $SOAK seconds, and no restart"
}

stages="unit envtest image chart smoke soak"
[ $# -gt 0 ] || set -- $stages
for stage; do case " $stages " in *" $stage "*) ;; *) echo "there is no stage \"$stage\"; there are $stages" >&2 && exit 2 ;; esac; done
trap '[ $? -eq 0 ] || echo "pipeline.sh: $stage failed" >&2' EXIT
for stage; do echo "==> $stage" && "$stage"; done
