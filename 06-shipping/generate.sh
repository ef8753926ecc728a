#!/bin/sh
# Writes the manifests of this stage that follow from others:
#
#   config/crd/, config/samples/,        copies from stage 5: Kustomize reads nothing outside its folder
#   config/admission/pods.yaml
#   config/rbac/role.yaml                what the manager may do, from markers
#   config/overlays/namespaced/role/...  what its operators may do, for one namespace
#   config/testdata/crd/                 two CRDs of others, which only the tests need
#   packaging/                           what the chart and the bundles have from config/
#
# Run it after each change to a marker; make verify fails when something is stale.
set -eu
cd "$(dirname "$0")"
export GOWORK=off

stage5=../05-crd-operator
operators=example.com/hacking-a-controller/05-crd-operator
# controller-gen, in the version of tools/pinned/generate/go.mod.
roles() { "$(go -C ../tools/pinned/generate tool -n controller-gen)" rbac:roleName=cnat-manager "$@" output:rbac:stdout; }

echo 'config/crd/, config/samples/, config/admission/: the CRDs, samples and policy of stage 5'
rm -f config/crd/*_*.yaml
cp $stage5/config/crd/*.yaml config/crd/
cp $stage5/config/samples/*.yaml config/samples/
cp $stage5/config/admission/pods.yaml config/admission/

echo 'config/rbac/, config/overlays/namespaced/role/: the roles'
roles paths=$operators/controllerruntime paths=$operators/settings paths=./manager >config/rbac/role.yaml
roles paths=$operators/controllerruntime paths=$operators/settings |
  sed 's/^kind: ClusterRole$/kind: Role/' >config/overlays/namespaced/role/role.yaml

# The operator of Prometheus is not among what we require: its Go code would
# choose versions of Kubernetes for us. Two files of it are all that is needed.
echo 'config/testdata/crd/: ServiceMonitor and PrometheusRule'
module=$(go mod download -json github.com/prometheus-operator/prometheus-operator@v0.94.1 | sed -n 's/^.*"Dir": "\(.*\)",*$/\1/p')
rm -rf config/testdata/crd
mkdir -p config/testdata/crd
for kind in servicemonitors prometheusrules; do
  cat "$module/example/prometheus-operator-crd/monitoring.coreos.com_$kind.yaml" >config/testdata/crd/$kind.yaml
done

echo 'packaging/chart/: the CRDs, the policy, the alerts, the roles of people and the rules of the role'
chart=packaging/chart
rm -f $chart/crds/* $chart/files/*
mkdir -p $chart/crds $chart/files
cp config/crd/*_*.yaml $chart/crds/
cp config/admission/pods.yaml config/prometheus/rules.yaml $chart/files/
cp config/users/roles.yaml $chart/files/users.yaml
{
  echo '{{/* What the manager may do: from the markers of its operators. Written by generate.sh. */}}'
  echo '{{- define "cnat.rules" -}}'
  sed -n '/^rules:/,$p' config/overlays/namespaced/role/role.yaml
  echo '{{- end }}'
} >$chart/templates/_rules.tpl

# A bundle that has been released never changes. Neither of these two is: the second is there for the first to
# have a successor. People write the rest of a bundle, and packaging/bundle/bundle_test.go says what is stale.
echo 'packaging/bundle/: the CRDs of both versions'
for version in v0.6.0 v0.6.1; do cp config/crd/*_*.yaml packaging/bundle/$version/manifests/; done
