#!/bin/sh
# Measures the manager in a lab of its own: load.sh ramp or load.sh soak, with
# their flags. It builds what is missing; KWOK takes a minute or two the first time.
set -eu
cd "$(dirname "$0")"
echo "building the manager and the measurement" >&2
GOWORK=off go build -o bin/ ./cmd/manager ./cmd/load
kwok=$(sh ../tools/scripts/pinned.sh kwok)
exec bin/load --kwok="$kwok" --lab="$(command -v lab || echo ../lab/bin/lab)" "$@"
