#!/bin/sh
# Tests one module: test-module.sh FOLDER [go test flags], run from the top of the repository.
# RACE=1 turns the race detector on.
#
# Compiling Kubernetes a second time for the race detector would take a quarter
# of an hour, so packages whose tests link it are always tested without.
set -eu
module=$1
shift
# Tests of API behaviour find the API server there; unless the caller has one.
export KUBEBUILDER_ASSETS="${KUBEBUILDER_ASSETS:-$PWD/lab/bin}"
# What else the tests of a module need, its own script finds.
if [ -f "$module/test-env.sh" ]; then . "./$module/test-env.sh"; fi
# Go's test cache sees what a test reads in its own module and which variables it reads.
# The rest is in this one.
TEST_INPUTS=$(sh tools/scripts/inputs.sh "$module")
export TEST_INPUTS
cd "$module"

# A line for each package and each test program: its path, then all it links.
programs=$(go list -test -f '{{if not .ForTest}}{{.ImportPath}} {{join .Deps " "}}{{end}}' ./...)
tests() { printf '%s\n' "$programs" | sed -n "/^[^ ]*\.test /{$1;s/\.test .*//p;}"; }
light=$(tests '/ k8s\.io\/kubernetes\//d')
heavy=$(tests '/ k8s\.io\/kubernetes\//!d')

failed=
# Unquoted: import paths hold no spaces, and each is an argument.
if [ -n "$light" ]; then go test ${RACE:+-race} "$@" $light || failed=yes; fi
if [ -n "$heavy" ]; then go test "$@" $heavy || failed=yes; fi
test -z "$failed"
