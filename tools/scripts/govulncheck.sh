#!/bin/sh
# Asks the database of Go's vulnerabilities about the modules in the given folders, in the
# version of govulncheck that tools/pinned/govulncheck/go.mod names. It reports what a module
# calls, and not what it only requires. VULNDB is a copy of the database, such as
# file:///srv/vulndb; without it, https://vuln.go.dev is asked.
set -eu
govulncheck=$(GOWORK=off go -C tools/pinned/govulncheck tool -n govulncheck) # builds it, at most once
database=${VULNDB:-https://vuln.go.dev}

failed=
for module; do
  # A module without Go code is only a list of versions.
  if [ -z "$(find "$module" -name '*.go' | head -n 1)" ]; then continue; fi
  echo "==> $module"
  code=0
  (cd "$module" && GOWORK=off "$govulncheck" -db "$database" ./...) || code=$?
  case $code in
  0) ;;
  3) failed="$failed $module" ;;
  *)
    echo "govulncheck failed in $module, see above; it needs $database, or a copy of that in VULNDB" >&2
    exit 1
    ;;
  esac
done
if [ -n "$failed" ]; then
  echo "these modules call something with a known vulnerability; raise its version:$failed" >&2
  exit 1
fi
