#!/bin/sh
# Tests several modules, JOBS (2) at a time: tests.sh [go test flags] -- FOLDERS, run from
# the top of the repository. Much of a test is waiting for an API server, so two together
# take little longer than one. The lines of the two come as they are ready; each names its
# package.
set -eu
flags=
while [ "$1" != -- ]; do flags="$flags $1"; shift; done
shift
if ! printf '%s\n' "$@" | xargs -P "${JOBS:-2}" -I '{}' sh tools/test.sh '{}' $flags; then
  echo 'some tests failed: see the lines that begin with FAIL' >&2
  exit 1
fi
