#!/bin/sh
# Prints the path of a program in the version that tools/pinned names, and builds it into bin/ before if it
# is not there: pinned.sh helm, kustomize, kwok, opm or oras. While go.mod and go.sum have not changed, this takes
# no time: it does not even ask Go.
set -eu
cd "$(dirname "$0")/../.."
name=${1:-}
module=$name
# Go keeps such a program in its cache, for each copy of the repository.
build() { cp "$(GOWORK=off go -C "tools/pinned/$module" tool -n "$name")" "$1"; }
case $name in
helm | kustomize | kwok | oras) ;;
opm)
  module=olm
  # Without C and GPG, whose libraries are seldom there. go tool knows no tags.
  build() { CGO_ENABLED=0 GOWORK=off go -C tools/pinned/olm build -tags=containers_image_openpgp -o "$1" github.com/operator-framework/operator-registry/cmd/opm; }
  ;;
*)
  echo "pinned.sh: \"$name\" is not pinned here; there is helm, kustomize, kwok, opm, oras" >&2
  exit 2
  ;;
esac
program=$PWD/bin/$name
newer=$(find "tools/pinned/$module/go.mod" "tools/pinned/$module/go.sum" -newer "$program" 2>/dev/null || echo none)
if [ -n "$newer" ]; then
  echo "==> building $name (minutes the first time)" >&2
  mkdir -p bin
  # In one step: a test of another module may be running the old one.
  build "$program.$$"
  mv "$program.$$" "$program"
fi
echo "$program"
