#!/bin/sh
# Records the terminal that README.md shows: runs these commands, in a lab of their own, and
# writes pictures/terminal.txt, which make generate draws. With --check it writes nothing, and
# fails if they print something else than what is shown, apart from numbers.
set -eu
cd "$(dirname "$0")/../.."
commands() {
  cat <<'END'
make stage-1 | tail -n 4                # a client lists the namespaces
make stage-5 2>/dev/null | tail -n 3    # an operator runs what is due
eval "$(make -s env)"
kubectl get pods
END
}

work=$(mktemp -d)
export LAB_DIR="$work/lab"
unset MAKEFLAGS MAKELEVEL # a make within make prints its folder
trap 'lab/bin/lab reset >"$work/reset" 2>&1 || cat "$work/reset" >&2; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
commands >"$work/commands"
while IFS= read -r command; do
  printf '$ %s\n' "$command" >>"$work/terminal"
  eval "$command" >>"$work/terminal" </dev/null
done <"$work/commands"

awk '
  { line[NR] = $0 }
  END {
    print "# Written by tools/scripts/record.sh."
    print "title: A terminal"
    print "alt: A terminal. make stage-1 lists the namespaces of the lab. make stage-5 runs an operator: an At goes from RUNNING to DONE, and its pod prints YAY."
    printf "size 680x%d\n\nbox terminal 10,10 660x%d\n", 20 * NR + 40, 20 * NR + 20
    for (i = 1; i <= NR; i++) printf "shell 24,%d: %s\n", 20 * i + 10, line[i]
  }' "$work/terminal" >"$work/terminal.txt"

if [ "${1:-}" != --check ]; then
  cp "$work/terminal.txt" pictures/terminal.txt
  exit
fi
# Numbers are times, and columns are as wide as they need to be.
shown() { sed 's/[0-9][0-9TZ:-]*/0/g; s/00*s/0s/g; s/  */ /g' "$1"; }
shown pictures/terminal.txt >"$work/committed"
shown "$work/terminal.txt" | diff "$work/committed" - || { echo "the terminal in README.md shows something else: sh tools/scripts/record.sh && make generate" >&2; exit 1; }
printf 'ok  \tthe terminal in README.md\n'
