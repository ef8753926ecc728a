#!/bin/sh
# Types what 05-crd-operator/api/kubebuilder.md says, in an empty folder, and runs the tests that
# Kubebuilder has written there, unmodified, on the API server of the lab: another project needs
# nothing of this one but KUBEBUILDER_ASSETS.
set -eu
cd "$(dirname "$0")/../.."
page="$PWD/05-crd-operator/api/kubebuilder.md"
export KUBEBUILDER_ASSETS="$PWD/lab/bin" GOWORK=off
unset MAKEFLAGS MAKELEVEL # their make is not a part of ours

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
# must COMMAND...: what it prints is shown if it fails.
must() { "$@" >"$work/log" 2>&1 </dev/null || { cat "$work/log" >&2; echo "a project of Kubebuilder's: $* fails" >&2; exit 1; }; }

# shellcheck disable=SC2016 # no command stands in these quotes
sed -n '/^```sh$/,/^```$/{/^```/!p;/^```$/q;}' "$page" >"$work/commands"
cd "$work"
echo 'kubebuilder: it is built, and writes a project'
must sh -e commands
cd project
must make manifests
echo 'kubebuilder: its tests run'
must go test -vet=off -v -timeout 10m ./internal/... -ginkgo.no-color
grep '^Ran [1-9]' "$work/log" || { cat "$work/log" >&2; echo "a project of Kubebuilder's: no test was run" >&2; exit 1; }
printf 'ok  \ta project of Kubebuilder on the API server of the lab\n'
