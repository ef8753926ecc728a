# Sourced by tools/scripts/test-module.sh: which PostgreSQL the tests run. A newcomer who has none, and no
# npm that fetches it, goes without those tests, and is told so. With CI set they fail.
# What is heavy starts whole clusters. On a busy machine each of their steps may take minutes, and two packages at
# a time would make it one. SHORT=1 leaves out the tests that take longest.
if [ -n "${HEAVY:-}" ]; then
  export TEST_TIMEOUT="${TEST_TIMEOUT:-8m}" GOFLAGS="${GOFLAGS:-} -p=1${SHORT:+ -short}"
fi
mkdir -p bin
go -C 05-crd-operator/postgres build -o ../../bin/postgres-image ./cmd/image
if found=$(cd 05-crd-operator/postgres && ../../bin/postgres-image --find 2>&1); then
  export PG_HOME="$found"
elif [ -n "${PG_HOME:-}${CI:-}" ]; then
  echo "$found" >&2
else
  found="LEFT OUT: the tests of 05-crd-operator/postgres that run PostgreSQL: ${found#error: }"
  echo "==> $found" >&2
  if [ -n "${LEFT_OUT:-}" ]; then echo "$found" >>"$LEFT_OUT"; fi
fi
