#!/bin/sh
# Writes all generated code and manifests of this stage from the types in api/:
#
#   {api/*/*,lighthouse/first,lighthouse/operator/api/*}/zz_generated.deepcopy.go   how to copy the types
#   config/crd/, lighthouse/operator/config/{crd,versions}/
#                                      the schema, from types and markers; versions/ has both of Lighthouse
#   config/rbac/, lighthouse/first/role.yaml, lighthouse/operator/config/role.yaml
#                                      what each operator may do, from markers
#   config/webhook/{manifests,role}.yaml   what the webhook is called for, and what it may do
#   generated/                         clients, listers and informers for clientgo
#
# Run it after each change to api/; make verify fails when something is stale.
set -eu
cd "$(dirname "$0")"
export GOWORK=off

module=$(go list -m)
api=$module/api
tools=../tools/pinned/generate
# The versions of the tools stand in tools/pinned/generate/go.mod.
tool() { name=$1; shift; "$(go -C "$tools" tool -n "$name")" "$@"; }

# What is not written any more must not stay.
rm -rf generated config/crd config/rbac lighthouse/operator/config/crd
rm -f config/webhook/manifests.yaml config/webhook/role.yaml
mkdir -p config/rbac
find api lighthouse -name 'zz_generated*' -delete

echo "from the types in api/: how to copy them, and their schemas"
tool controller-gen object paths=./api/... paths=./lighthouse/first paths=./lighthouse/operator/api/...
tool controller-gen crd paths=./api/... output:crd:dir=config/crd
tool controller-gen crd paths=./lighthouse/operator/api/v1alpha1 output:crd:dir=lighthouse/operator/config/crd
tool controller-gen crd paths=./lighthouse/operator/api/... output:crd:dir=lighthouse/operator/config/versions

header=$(mktemp)
trap 'rm -f "$header"' EXIT

group=cnat/v1alpha1
echo 'generated/: clients, listers, informers'
tool client-gen --go-header-file "$header" --clientset-name versioned \
  --input-base "$api" --input "$group" \
  --output-dir generated/clientset --output-pkg "$module/generated/clientset"
tool lister-gen --go-header-file "$header" \
  --output-dir generated/listers --output-pkg "$module/generated/listers" "$api/$group"
tool informer-gen --go-header-file "$header" \
  --versioned-clientset-package "$module/generated/clientset/versioned" \
  --listers-package "$module/generated/listers" \
  --output-dir generated/informers --output-pkg "$module/generated/informers" "$api/$group"

echo 'config/rbac/: the roles'
for operator in clientgo controllerruntime settings; do
  tool controller-gen rbac:roleName=$operator paths=./$operator output:rbac:stdout >config/rbac/$operator.yaml
done
tool controller-gen rbac:roleName=lighthouse paths=./lighthouse/first output:rbac:stdout >lighthouse/first/role.yaml
tool controller-gen rbac:roleName=lighthouse-operator paths=./lighthouse/operator output:rbac:stdout >lighthouse/operator/config/role.yaml

echo 'config/webhook/: what the webhook is called for, and its role'
tool controller-gen webhook rbac:roleName=at-webhook paths=./webhook output:dir=config/webhook
