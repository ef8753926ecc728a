#!/bin/sh
# Fetches and compiles what the lessons, the exercises and the tests need:
# prefetch.sh FOLDERS-OF-MODULES, run from the top of the repository. After it they work
# without a network, and at once. RACE=1 compiles the tests for the race detector.
#
# The linter is not among it: only `make verify` needs it.
set -eu

say() { echo "==> fetching and compiling $*"; }

# Compiling is what fetches: a module's go.mod names more than is ever used.
for module in "$@"; do
  say "$module"
  if [ "$module" != lab ]; then go -C "$module" build -o /dev/null ./...; fi
  sh tools/scripts/test-module.sh "$module" -run '^$' >/dev/null
  HEAVY=1 sh tools/scripts/test-module.sh "$module" -run '^$' >/dev/null
done
if [ -d 05-crd-operator/postgres ]; then
  say "the image of PostgreSQL"
  make postgres || echo 'make postgres works once it finds PostgreSQL, see above' >&2
fi
for module in tools/pinned/generate tools/pinned/kustomize tools/pinned/helm tools/pinned/kwok tools/pinned/oras tools/pinned/cyclonedx-gomod tools/pinned/dlv; do
  say "$module"
  tools=$(go -C "$module" list tool)
  for tool in $tools; do go -C "$module" tool -n "$tool" >/dev/null; done
done
if [ -d 06-shipping ]; then
  say tools/pinned/olm
  # Without C: the library for signatures of images that it would need is seldom there.
  CGO_ENABLED=0 go -C tools/pinned/olm build -tags=containers_image_openpgp -o /dev/null tool
fi
