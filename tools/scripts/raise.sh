#!/bin/sh
# Puts every module on another version of Kubernetes: raise.sh v1.37.0, run from the top of
# the repository. docs/UPGRADING.md has what is left to do.
set -eu
export GOWORK=off
case "${1:-}" in
v1.*.*) new=${1#v1.} ;;
*) echo "usage: tools/scripts/raise.sh v1.MINOR.PATCH" >&2; exit 2 ;;
esac
old=$(sed -n 's|^require k8s\.io/kubernetes v1\.||p' lab/go.mod)

# Kubernetes takes its parts from folders of its own. The lab takes the modules that are
# published from these; another minor version may have more of them, or fewer.
mod=$(go mod download -json "k8s.io/kubernetes@v1.$new" | sed -n 's/.*"GoMod": "\(.*\)".*/\1/p')
parts=$(sed -n 's|^[[:space:]]*\(k8s\.io/[^ ]*\) => \./staging/.*|\1|p' "$mod")
replaced=$(sed -n 's|^[[:space:]]*\(k8s\.io/[^ ]*\) => k8s\.io/.*|\1|p' lab/go.mod)
set -- "-require=k8s.io/kubernetes@v1.$new"
for module in $parts; do set -- "$@" "-replace=$module=$module@v0.$new"; done
for module in $replaced; do
  echo "$parts" | grep -qx "$module" || set -- "$@" "-dropreplace=$module"
done
# What builds on the lab's own parts of Kubernetes has the same replacements.
for module in lab 06-shipping/controlplane; do
  if [ -f "$module/go.mod" ]; then go -C "$module" mod edit "$@"; fi
done

for module in $(sh tools/scripts/modules.sh); do
  set --
  for part in $(sed -n "s|^[[:space:]]*\(k8s\.io/[^ ]*\) v0\.$old\( .*\)*$|\1|p" "$module/go.mod"); do
    set -- "$@" "-require=$part@v0.$new"
  done
  if [ $# -gt 0 ]; then go -C "$module" mod edit "$@"; fi
  echo "==> go mod tidy in $module"
  go -C "$module" mod tidy
done
