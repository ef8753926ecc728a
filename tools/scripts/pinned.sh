#!/bin/sh
# Prints the path of a program in the version that tools/pinned names, and builds it into bin/ before if it
# is not there: pinned.sh helm, kustomize, kwok or opm. While go.mod and go.sum have not changed, this takes
# no time: it does not even ask Go.
set -eu
cd "$(dirname "$0")/../.."
name=${1:-}
module=$name
case $name in
helm | kustomize | kwok) ;;
opm)
  module=olm
  # Without C and GPG: the libraries that they would need are seldom there.
  export CGO_ENABLED=0 GOFLAGS="${GOFLAGS:-} -tags=containers_image_openpgp"
  ;;
*)
  echo "pinned.sh: \"$name\" is not pinned here; there is helm, kustomize, kwok, opm" >&2
  exit 2
  ;;
esac
program=$PWD/bin/$name
newer=$(find "tools/pinned/$module/go.mod" "tools/pinned/$module/go.sum" -newer "$program" 2>/dev/null || echo none)
if [ -n "$newer" ]; then
  echo "==> building $name (minutes the first time)" >&2
  mkdir -p bin
  # Go keeps the program in its cache, for each copy of the repository. It gets here in one step, since a test of
  # another module may be running the old one.
  cp "$(GOWORK=off go -C "tools/pinned/$module" tool -n "$name")" "$program.$$"
  mv "$program.$$" "$program"
fi
echo "$program"
