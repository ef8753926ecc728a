#!/bin/sh
# Measures the manager in a lab of its own: load.sh ramp, load.sh standing or load.sh soak, with
# their flags. It builds what is missing; KWOK takes a minute or two the first time.
set -eu
cd "$(dirname "$0")"
echo "building the manager, the measurement, and KWOK, which simulates nodes (minutes the first time)" >&2
GOWORK=off go build -o bin/ ./cmd/manager ./cmd/load
GOWORK=off go -C ../tools/pinned/kwok build -o ../../06-shipping/bin/ sigs.k8s.io/kwok/cmd/kwok
exec bin/load --lab="$(command -v lab || echo ../lab/bin/lab)" "$@"
