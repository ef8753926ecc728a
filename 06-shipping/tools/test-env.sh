# Sourced by tools/scripts/test-module.sh, at the top of the repository: builds the programs that the tests
# run, so that no test compiles. opm is for `make test-heavy` only.
KUSTOMIZE=$(sh tools/scripts/pinned.sh kustomize)
export KUSTOMIZE
if [ -n "${HEAVY:-}" ]; then
  OPM=$(sh tools/scripts/pinned.sh opm)
  export OPM
fi
