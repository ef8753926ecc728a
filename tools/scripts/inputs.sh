#!/bin/sh
# Prints a hash of what the tests of a module read outside of it: inputs.sh FOLDER, run
# from the top of the repository, with KUBEBUILDER_ASSETS set.
set -eu
GOWORK=off exec go -C tools run ./cmd/inputs "$PWD" "$1"
