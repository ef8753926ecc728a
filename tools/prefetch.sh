#!/bin/sh
# Fetches and compiles what the lessons, the exercises and the tests need:
# prefetch.sh STAGE-FOLDERS. After it they work without a network, and at once.
# RACE=-race compiles the tests for the race detector, too.
#
# The linter is not among it: only `make verify` needs it.
set -eu

say() { echo "==> fetching and compiling $*"; }

# Compiling is what fetches: a module's go.mod names more than is ever used.
for module in "$@" tools/workshop tools; do
  say "$module"
  go -C "$module" build -o /dev/null ./...
  go -C "$module" test -run '^$' ./... >/dev/null
  if [ -n "${RACE:-}" ]; then go -C "$module" test "$RACE" -run '^$' ./... >/dev/null; fi
done
for module in generate kustomize; do
  say "tools/$module"
  for tool in $(go -C "tools/$module" list tool); do go -C "tools/$module" tool -n "$tool" >/dev/null; done
done
