#!/bin/sh
# Prints the folders of the modules of this repository, run from its top: all of them,
# or with --tests those that have tests of their own.
set -eu
find . \( -name '.?*' -o -name testdata -o -path ./bin \) -prune -o \
  -type f \( -name go.mod -o -name '*_test.go' \) -print | awk -v only="${1:-}" '
  { sub(/^\.\//, "") }
  /\/go\.mod$/ { sub(/\/go\.mod$/, ""); modules[$0] = 1; next }
  { tests[$0] = 1 }
  END {
    for (file in tests)
      # A file belongs to the innermost module that it lies in.
      for (folder = file; sub(/\/[^\/]*$/, "", folder); )
        if (folder in modules) { tested[folder] = 1; break }
    for (folder in modules)
      if (only == "" || folder in tested) print folder
  }' | LC_ALL=C sort
