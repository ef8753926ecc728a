#!/bin/sh
# Records the terminal that README.md shows: runs these commands, in a lab of their own, and
# writes pictures/terminal.txt, which make generate draws. With --check it writes nothing, and
# fails if they print something else than what is shown, apart from numbers. In the same lab it
# then walks the commands of START.md.
set -eu
cd "$(dirname "$0")/../.."
commands() {
  cat <<'END'
kubectl get lighthouses
kubectl delete deployment eddystone              # and with it its three pods
lab await 'kubectl get deployment | grep 3/3'    # the operator runs
kubectl wait --for=condition=Ready lighthouse/eddystone
kubectl get lighthouses
END
}

work=$(mktemp -d)
export LAB_DIR="$work/lab"
unset MAKEFLAGS MAKELEVEL # a make within make prints its folder
operator=''
end() {
  kill $operator 2>/dev/null || : # unquoted: there may be none
  lab/bin/lab reset >"$work/reset" 2>&1 || cat "$work/reset" >&2
  rm -rf "$work"
}
trap end EXIT
trap 'exit 1' INT TERM
make -s lab-up >"$work/up" 2>&1 || { cat "$work/up" >&2; exit 1; }
eval "$(make -s env)"

first=05-crd-operator/lighthouse/first
kubectl apply -f $first/crd.yaml >/dev/null
kubectl wait --for=condition=Established crd/lighthouses.coast.example.com >/dev/null
kubectl apply -f $first/eddystone.yaml >/dev/null
GOWORK=off go -C 05-crd-operator build -o "$work/lighthouse" ./lighthouse/first
"$work/lighthouse" >"$work/lighthouse.log" 2>&1 &
operator=$!
kubectl wait --for=condition=Ready lighthouse/eddystone --timeout=2m >/dev/null
lab await 'kubectl get deployment eddystone | grep -q 3/3'

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
    print "alt: A terminal. A Lighthouse has three lamps, all burning. Its Deployment is deleted, and the pods with it. A moment later the operator has created it again, and three lamps burn."
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

kill $operator
wait $operator || :
# The CRD goes last: a garbage collector that no longer knows the owner's kind deletes nothing.
kubectl delete lighthouses --all >/dev/null
kubectl wait --for=delete deployment/eddystone --timeout=2m >/dev/null
kubectl delete -f $first/crd.yaml >/dev/null
# shellcheck disable=SC2016 # lab await expands it
lab await '[ -z "$(kubectl get pods -o name)" ]'
# shellcheck disable=SC2016 # no command stands in these quotes
sed -n '/^```sh$/,/^```$/{/^```/!p;}' START.md >"$work/start"
bash -e "$work/start" >"$work/watched" 2>&1 || { cat "$work/watched"; echo "what START.md has to watch fails" >&2; exit 1; }
grep -q 'replicaset-controller' "$work/watched" && grep -q 'No resources found' "$work/watched" || { cat "$work/watched"; echo "what START.md has to watch shows something else" >&2; exit 1; }
printf 'ok  \tthe commands of START.md\n'
