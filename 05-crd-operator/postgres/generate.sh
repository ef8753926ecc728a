#!/bin/sh
# Writes what is made of the types in api/ and the markers in operator/:
#
#   api/v1alpha1/zz_generated.deepcopy.go   how to copy the types
#   config/crd/                             the schema
#   config/rbac/                            what the operator may do
#
# Run it after each change to them; make verify fails when something is stale.
set -eu
cd "$(dirname "$0")"
export GOWORK=off

tools=../../tools/pinned/generate
# The versions of the tools stand in tools/pinned/generate/go.mod.
tool() { name=$1; shift; "$(go -C "$tools" tool -n "$name")" "$@"; }

# What is not written any more must not stay.
rm -rf config/crd config/rbac
find api -name 'zz_generated*' -delete

tool controller-gen object crd rbac:roleName=postgres-operator paths=./api/... paths=./operator \
  output:object:dir=api/v1alpha1 output:crd:dir=config/crd output:rbac:dir=config/rbac
