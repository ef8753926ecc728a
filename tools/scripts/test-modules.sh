#!/bin/sh
# Tests several modules, JOBS (2) at a time: test-modules.sh [go test flags] -- FOLDERS, run from
# the top of the repository. Much of a test is waiting for an API server, so two together
# take little longer than one. The lines of the two come as they are ready; each names its
# package.
set -eu
flags=
while [ "$1" != -- ]; do flags="$flags $1"; shift; done
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# What tests are left out is said again at the end, where one reads.
LEFT_OUT=$work/left-out
# For timed.sh: which modules are done, of how many, since when.
DONE=$work/done MODULES=$# BEGAN=$(date +%s)
export LEFT_OUT DONE MODULES BEGAN
: >"$LEFT_OUT"
status=0
printf '%s\n' "$@" | xargs -P "${JOBS:-2}" -I '{}' sh tools/scripts/timed.sh '{}' sh tools/scripts/test-module.sh '{}' $flags || status=1
cat "$LEFT_OUT" >&2
if [ "$status" != 0 ]; then
  echo 'some tests failed: see the lines that begin with FAIL' >&2
  exit 1
fi
