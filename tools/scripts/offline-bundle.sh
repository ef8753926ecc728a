#!/bin/sh
# Packs the workshop for a room without a network: Go, this commit, and what compiling
# and testing it fetches and builds, in one archive. offline-bundle.sh ARCHIVE [PLACE]
#
# Go finds what it compiled before only where it was compiled, so the archive has one
# place, the same on every machine: /var/tmp/hacking-a-controller, or PLACE. Anybody may
# make folders in /var/tmp on Linux and macOS, and what is in this one is run. So it is
# made again, here and where it is unpacked, and nobody else may write in it.
#
# The archive fits machines of this system and architecture.
set -eu

archive=$(CDPATH='' cd "$(dirname "$1")" && pwd)/$(basename "$1")
place=${2:-/var/tmp/hacking-a-controller}
modules=$(go env GOMODCACHE)/cache/download proxy=$(go env GOPROXY)

if ! mkdir -m 700 "$place"; then
  echo "offline-bundle.sh: the archive is made in $place, which is there already; remove it if it is an old one of yours: chmod -R u+w $place; rm -rf $place; otherwise choose another place: make offline-bundle PLACE=$place-2" >&2
  exit 1
fi
clean() { chmod -R u+w "$place" 2>/dev/null || true; rm -rf "$place"; }
trap clean EXIT
trap 'exit 1' INT TERM

echo "==> this commit, and Go ($(go env GOVERSION))"
if [ -n "$(git status --porcelain)" ]; then echo "what you have not committed is not in it"; fi
git clone --quiet . "$place/workshop"
cp -R "$(go env GOROOT)" "$place/go"
cat >"$place/env" <<END
# For a shell that works without a network:  . $place/env
export PATH=$place/go/bin:"\$PATH" GOROOT=$place/go GOTOOLCHAIN=local
export GOMODCACHE=$place/modules GOCACHE=$place/cache GOFLAGS= CGO_ENABLED=$(go env CGO_ENABLED)
# Nothing is fetched, and the tests were compiled without the race detector.
export GOPROXY=off GOSUMDB=off RACE=
cd $place/workshop
END

# What is on this machine need not be fetched again.
(
  . "$place/env"
  export GOPROXY="file://$modules,$proxy"
  unset MAKEFLAGS MAKELEVEL
  make prefetch
  # There may be no PostgreSQL where it is unpacked, and no npm that fetches one.
  make postgres ARGS=--npm || echo 'the archive has no PostgreSQL, see above: where it is used, there must be one' >&2
)
# Go needs what it unpacked, not the archives that it came in.
find "$place/modules/cache/download" -name '*.zip' -delete

echo "==> packing $(du -sh "$place" | cut -f 1)"
tar -C "$(dirname "$place")" -cf - "$(basename "$place")" | gzip -1 >"$archive.part"
mv "$archive.part" "$archive"
echo "wrote $archive ($(du -h "$archive" | cut -f 1)); to use it:"
echo "    mkdir -m 700 $place && tar -C $(dirname "$place") -xozf $(basename "$archive") && . $place/env && make stage-1"
