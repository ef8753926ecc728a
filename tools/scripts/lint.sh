#!/bin/sh
# Runs golangci-lint, in the version that tools/pinned/lint/go.mod names, on the modules
# in the given folders.
set -eu
lint=$(go -C tools/pinned/lint tool -n golangci-lint) # builds it, at most once

failed=
for module; do
  # A module without Go code is only a list of versions.
  if [ -z "$(find "$module" -name '*.go' | head -n 1)" ]; then continue; fi
  (cd "$module" && "$lint" run --allow-serial-runners ./...) || failed="$failed $module"
done
if [ -n "$failed" ]; then
  echo "the linter found something in:$failed" >&2
  exit 1
fi
