# Sourced by tools/scripts/test-module.sh, at the top of the repository: builds the programs that the tests
# run, so that no test compiles. Helm, KWOK, opm and the programs of e2e are for `make test-heavy` only.
KUSTOMIZE=$(sh tools/scripts/pinned.sh kustomize)
export KUSTOMIZE
if [ -n "${HEAVY:-}" ]; then
  HELM=$(sh tools/scripts/pinned.sh helm)
  KWOK=$(sh tools/scripts/pinned.sh kwok)
  OPM=$(sh tools/scripts/pinned.sh opm)
  export HELM KWOK OPM
  # e2e installs with them.
  export SHIPPING_TOOLS="$PWD/bin/06-shipping-tools"
  GOWORK=off go -C 06-shipping/tools build -o "$SHIPPING_TOOLS/" ./cmd/...
fi
