#!/bin/sh
# Checks what Go needs of a machine: preflight.sh [MEGABYTES], run from the top of the
# repository. MEGABYTES (100) must be free for temporary files.
#
# Without it Go fails later, and its words are about what it did, not about what to do.
set -eu
needed=${1:-100}

stop() { echo "$1" >&2; exit 1; }

command -v go >/dev/null || stop "Go is not installed, or not in PATH. Get Go 1.26 or newer: https://go.dev/dl"

settings=$(go env GOFLAGS GOPROXY GOTMPDIR GOMODCACHE GOCACHE)
{ read -r flags; read -r proxy; read -r temporary; read -r modules; read -r cache; } <<END
$settings
END

if [ -z "$modules" ] || [ "$cache" = off ]; then
  stop "HOME is not set, and Go keeps its caches there: export HOME=A-FOLDER-OF-YOURS"
fi

# writable FOLDER: Go makes it if it is missing. What somebody did with sudo has left folders
# of root's in it.
writable() {
  mkdir -p "$1" 2>/dev/null || return 1
  for folder in "$1" "$1"/[0-9a-f][0-9a-f]; do
    if [ -d "$folder" ] && [ ! -w "$folder" ]; then return 1; fi
  done
}
writable "$cache" || stop "Go cannot write to its build cache, $cache: change its owner, or choose another: export GOCACHE=A-FOLDER-OF-YOURS"

# A variable wins over what go env -w has set.
case " $flags " in
*" -mod=vendor "*) stop "GOFLAGS has -mod=vendor, and nothing is vendored here: export GOFLAGS='$(echo "$flags" | sed 's/-mod=vendor/-mod=readonly/')'" ;;
esac

# Go reads in go.mod which version it must be. An older one downloads that, or
# says that it may not.
if ! words=$(go -C lab list -m 2>&1); then
  echo "$words" >&2
  case $words in
  *GOFLAGS* | *GO111MODULE*) exit 1 ;; # Go itself says what to do
  esac
  stop "Go 1.26 or newer is needed: https://go.dev/dl"
fi

# A module cache that has all is never written to. client-go is what every stage and the lab
# are compiled from.
cached() { [ -n "$(go -C lab list -m -f '{{.Dir}}' k8s.io/client-go 2>/dev/null)" ]; }
if [ "$proxy" = off ] && ! cached; then
  stop "GOPROXY is off, and Go's module cache, $modules, lacks what is compiled here: with a network, run once: go env -u GOPROXY; env -u GOPROXY make prefetch; without one, see \"When the network is bad\" in docs/INSTRUCTORS.md"
fi
writable "$modules" || cached || stop "Go cannot write to its module cache, $modules: change its owner, or choose another: export GOMODCACHE=A-FOLDER-OF-YOURS"

# roomy VARIABLE FOLDER: temporary files go to FOLDER, as VARIABLE says.
roomy() {
  if [ ! -d "$2" ] || [ ! -w "$2" ]; then
    stop "$1 is $2, where no temporary file can be made: export $1=A-FOLDER-OF-YOURS"
  fi
  free=$(df -Pk "$2" | awk 'NR == 2 { for (i = 2; i <= NF; i++) if ($i ~ /%$/) print int($(i - 1) / 1024) }')
  if [ "${free:-$needed}" -lt "$needed" ]; then
    stop "$free MB are free for temporary files in $2, and $needed are needed: make room, or export $1=/var/tmp"
  fi
}
roomy TMPDIR "${TMPDIR:-/tmp}"
if [ -n "$temporary" ]; then roomy GOTMPDIR "$temporary"; fi
