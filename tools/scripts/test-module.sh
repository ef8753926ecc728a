#!/bin/sh
# Tests one module: test-module.sh FOLDER [go test flags], run from the top of the repository.
#
#   RACE=1           turns the race detector on
#   HEAVY=1          tests what tools/heavy-tests.txt names in this module, and nothing else;
#                    without it, everything else
#   TEST_LOG=FOLDER  keeps what go test -json prints there
#
# Compiling Kubernetes a second time for the race detector would take a quarter
# of an hour, so packages whose tests link it are always tested without, and so are
# those that tools/unraced-tests.txt names.
set -eu
module=$1
shift
top=$PWD
# Tests of API behaviour find the API server there; unless the caller has one.
export KUBEBUILDER_ASSETS="${KUBEBUILDER_ASSETS:-$top/lab/bin}"
# What else the tests of a module need, its own script finds.
if [ -f "$module/test-env.sh" ]; then . "./$module/test-env.sh"; fi
# Go's test cache sees what a test reads in its own module and which variables it reads.
# The rest is in these two.
inputs=$(sh tools/scripts/inputs.sh "$module")
export TEST_INPUTS="${inputs% *}" LAB_INPUTS="${inputs#* }"
if [ -n "${TEST_LOG:-}" ]; then
  gotestsum=$(go -C tools/pinned/gotestsum tool -n gotestsum) # builds it, at most once
  log=$top/$TEST_LOG/$(printf '%s' "$module" | tr / -)${HEAVY:+-heavy}
fi
cd "$module"

# A line for each package and each test program: its path, then all it links.
programs=$(go list -test -f '{{if not .ForTest}}{{.ImportPath}} {{join .Deps " "}}{{end}}' ./...)
# listed FILE: the packages of this module that stand there.
listed() {
  sed 's/#.*//' "$top/tools/$1" | awk -v module="$module" -v path="$(go list -m)" '$1 == module { sub(/^\./, path, $2); print $2 }'
}
heavy=$(listed heavy-tests.txt)
unraced=$(listed unraced-tests.txt)
# tests SED-COMMAND: the packages whose programs it leaves, and that are asked for.
tests() {
  printf '%s\n' "$programs" | sed -n "/^[^ ]*\.test /{$1;s/\.test .*//p;}" |
    if [ -n "${HEAVY:-}" ]; then grep -Fx "${heavy:-none}"; else grep -Fxv "${heavy:-none}"; fi || true
}
quick=$(tests '/ k8s\.io\/kubernetes\//d')
raced=$(printf '%s\n' "$quick" | grep -Fxv "${unraced:-none}" || true)
plain="$(tests '/ k8s\.io\/kubernetes\//!d') $(printf '%s\n' "$quick" | grep -Fx "${unraced:-none}" || true)"

# run NAME FLAGS-AND-PACKAGES
run() {
  name=$1
  shift
  if [ -z "${TEST_LOG:-}" ]; then go test "$@"; return; fi
  mkdir -p "$top/$TEST_LOG"
  "$gotestsum" --format standard-quiet --hide-summary skipped --jsonfile "$log$name.json" -- "$@"
}

failed=
# Unquoted: import paths hold no spaces, and each is an argument.
if [ -n "$raced" ]; then run '' ${RACE:+-race} "$@" $raced || failed=yes; fi
if [ -n "${plain# }" ]; then run -kubernetes "$@" $plain || failed=yes; fi
test -z "$failed"
