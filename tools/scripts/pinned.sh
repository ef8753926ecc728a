#!/bin/sh
# Prints the path of a program in the version that tools/pinned names, and builds it into bin/ before if it
# is not there: pinned.sh helm, kustomize, kwok or opm. While go.mod and go.sum have not changed, this takes
# no time: it does not even ask Go.
set -eu
cd "$(dirname "$0")/../.."
name=${1:-}
module=$name flags=''
case $name in
helm) package=helm.sh/helm/v4/cmd/helm ;;
kustomize) package=sigs.k8s.io/kustomize/kustomize/v5 ;;
kwok) package=sigs.k8s.io/kwok/cmd/kwok ;;
opm)
  package=github.com/operator-framework/operator-registry/cmd/opm module=olm
  # Without C and GPG: the libraries that they would need are seldom there.
  flags=-tags=containers_image_openpgp
  export CGO_ENABLED=0
  ;;
*)
  echo "pinned.sh: \"$name\" is not pinned here; there is helm, kustomize, kwok, opm" >&2
  exit 2
  ;;
esac
program=$PWD/bin/$name
newest=$(find "tools/pinned/$module/go.mod" "tools/pinned/$module/go.sum" -newer "$program" 2>/dev/null || echo none)
if [ -n "$newest" ]; then
  echo "==> building $name (minutes the first time)" >&2
  mkdir -p bin
  # Beside it first: a test of another module may be running the old one.
  GOWORK=off go -C "tools/pinned/$module" build ${flags:+"$flags"} -o "$program.$$" "$package"
  mv "$program.$$" "$program"
fi
echo "$program"
