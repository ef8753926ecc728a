#!/bin/sh
# Runs tests, and shows how long they take and took before: timed.sh NAME COMMAND..., run from
# the top of the repository. If test-modules.sh runs it, it shows how many modules are done, too.
#
# A time is kept if nothing came from Go's cache, and is for reading only: without
# bin/test-times, a line is shorter.
set -eu
name=$1
shift
times=bin/test-times${RACE:+-race}

began=$(date +%s)
# since SECOND prints how long ago that was: 3m12s.
since() { seconds $(($(date +%s) - $1)); }
seconds() { if [ "$1" -lt 60 ]; then echo "${1}s"; else echo "$(($1 / 60))m$(($1 % 60))s"; fi; }

before=
if [ -f "$times" ]; then
  before=$(awk -v name="$name" '{ took = $1; sub(/^[0-9]+ /, "") } $0 == name { last = took } END { print last }' "$times")
fi
echo "==> testing $name${before:+, which took $(seconds "$before") the last time}"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
{ "$@" || : >"$work/failed"; } | tee "$work/output"

result=passed
if [ -e "$work/failed" ]; then result=failed; fi
progress=
if [ -n "${DONE:-}" ]; then
  # Two may end at the same time: each has its own line.
  echo "$name" >>"$DONE"
  # shellcheck disable=SC2153 # tools/scripts/test-modules.sh sets it
  progress="; $(awk -v name="$name" '$0 == name { print NR }' "$DONE") of $MODULES modules done after $(since "$BEGAN")"
fi
echo "==> $name: $result in $(since "$began")$progress"
if [ "$result" = failed ]; then exit 1; fi
if ! grep -q '^ok .*(cached)' "$work/output"; then
  mkdir -p bin
  echo "$(($(date +%s) - began)) $name" >>"$times"
fi
