#!/bin/sh
# Prints each test that failed, and in how many of the runs: flaky.sh FILES, each of which is
# what go test -json printed. Fails if there is one.
set -eu
for file; do
  [ -f "$file" ] || { echo "flaky.sh: there is no $file: no test has run" >&2; exit 1; }
done
cat "$@" | awk '
  function field(name) { return match($0, "\"" name "\":\"[^\"]*\"") ? substr($0, RSTART + length(name) + 4, RLENGTH - length(name) - 5) : "" }
  /"Action":"(pass|fail)"/ {
    package = field("Package"); sub(/^example\.com\/hacking-a-controller\//, "", package)
    test = field("Test"); what = package
    if (test != "") what = package " " test
    runs[what]++
    if (!/"Action":"fail"/) next
    failed[what]++
    if (test != "") explained[package] = 1
  }
  END {
    for (what in failed) {
      some = 1
      if (what in explained) continue # a test of it failed
      printf "FAIL\t%s: %d of %d runs\n", what, failed[what], runs[what] | "sort"
    }
    close("sort")
    exit some
  }'
