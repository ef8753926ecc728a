#!/bin/sh
# Prints two hashes of what the tests of a module read outside of it, TEST_INPUTS and
# LAB_INPUTS: inputs.sh FOLDER, run from the top of the repository, with KUBEBUILDER_ASSETS set.
set -eu
GOWORK=off exec go -C tools run ./cmd/inputs "$PWD" "$1"
