# Sourced by tools/scripts/test-module.sh, at the top of the repository: builds the program that the tests run, so that
# no test compiles. oras is for `make test-heavy` only.
if [ -n "${HEAVY:-}" ]; then
  ORAS=$(sh tools/scripts/pinned.sh oras)
  export ORAS
fi
