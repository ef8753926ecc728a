#!/bin/sh
# Prints what took longest: slowest.sh NUMBER FILES. The files are what go test -json prints, and
# the bin/prove-times of make prove. Files that aren't there are left out.
set -eu
number=$1
shift
{
  for file; do
    case $file in
    *.json)
      # A test that has subtests takes as long as they do. One from the cache took no time now.
      if [ -f "$file" ]; then
        awk '
          function field(name) { return match($0, "\"" name "\":\"[^\"]*\"") ? substr($0, RSTART + length(name) + 4, RLENGTH - length(name) - 5) : "" }
          /"Action":"output"/ && !/"Test":/ && /\(cached\)/ { cached[field("Package")] = 1 }
          /"Action":"(pass|fail)"/ && /"Test":/ {
            test = field("Test"); package = field("Package"); what = package " " test
            if (test ~ /\// || !match($0, /"Elapsed":[0-9.]+/)) next
            took[what] = substr($0, RSTART + 10, RLENGTH - 10); of[what] = package
          }
          END {
            for (what in took) {
              if (of[what] in cached) continue
              took_by = what; sub(/^example\.com\/hacking-a-controller\//, "", took_by)
              print took[what] "\ttest " took_by
            }
          }' "$file"
      fi
      ;;
    *) if [ -f "$file" ]; then awk -F '\t' '$4 != "cached" { print $3 "\t" $1 " " $2 }' "$file"; fi ;;
    esac
  done
} | sort -rn | head -n "$number" | awk -F '\t' '
  NR == 1 { print "the slowest:" }
  { printf "%7.1f s  %s\n", $1, $2 }'
