# Sourced by tools/scripts/test-module.sh, at the top of the repository: builds the programs that the tests
# of e2e run, so that no test compiles.
if [ -n "${HEAVY:-}" ]; then
  KWOK=$(sh tools/scripts/pinned.sh kwok)
  export KWOK
  export SCHEDULER="$PWD/bin/kube-scheduler"
  echo "==> building the scheduler in 06-shipping/controlplane" >&2
  GOWORK=off go -C 06-shipping/controlplane build -o "$SCHEDULER" ./scheduler
fi
