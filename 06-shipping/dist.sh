#!/bin/sh
# Prints all manifests of an installation: dist.sh [VERSION [KUSTOMIZATION]]
#
# VERSION is the tag of the image, and KUSTOMIZATION is config/default, unless it is
# config/overlays/ha, config/overlays/monitored, config/overlays/namespaced or
# config/overlays/traced. Three more things are known only when it is installed, and come
# from the environment:
#
#   REGION=harbour                 a name for the place, in logs and metrics
#   IMAGE=registry.example/cnat    where nodes get the image, if it is in a registry;
#                                  with @sha256:... behind it, this very image: a tag
#                                  can be moved, a digest cannot
#   RUNBOOKS=https://wiki.example  where the pages of runbooks/ are, for runbook_url of alerts
set -eu
cd "$(dirname "$0")"
version=${1:-} kustomization=${2:-config/default}

fail() { echo "dist.sh: $1" >&2; exit 1; }
test -f "$kustomization/kustomization.yaml" || fail "there is no $kustomization; there is config/default, config/overlays/ha, config/overlays/monitored, config/overlays/namespaced, config/overlays/traced"
for value in "$version" "${REGION:=}" "${IMAGE:=}" "${RUNBOOKS:=}"; do
  case $value in
  *[!A-Za-z0-9._:/@-]*) fail "\"$value\" cannot be a version, a region, an image or an address: it has more than letters, digits and ._:/@-" ;;
  esac
done

case ${RUNBOOKS:=} in
"" | https://*[!/]) ;;
*) fail "\"$RUNBOOKS\" is no address of runbooks: that begins with https:// and ends without a /" ;;
esac

# The image by digest needs no tag.
digest=
case $IMAGE in
*@*)
  digest=${IMAGE#*@} IMAGE=${IMAGE%%@*} version=
  expr "$digest" : 'sha256:[0-9a-f]\{64\}$' >/dev/null || fail "\"$digest\" is no digest of an image: that is sha256: and 64 digits, 0 to 9 and a to f"
  ;;
*)
  case ${IMAGE##*/} in *:*) fail "\"$IMAGE\" has a tag; name the image without it, and the tag as VERSION" ;; esac
  ;;
esac

# Kustomize takes values from files only, so this is an overlay of a moment.
mkdir -p ../bin
overlay=$(mktemp -d ../bin/overlay.XXXXXX)
trap 'rm -rf "$overlay"' EXIT
{
  echo "resources: [\"../../$(basename "$PWD")/$kustomization\"]"
  echo "images: [{name: cnat-manager${IMAGE:+, newName: \"$IMAGE\"}${version:+, newTag: \"$version\"}${digest:+, digest: \"$digest\"}}]"
  if [ -n "$REGION" ]; then
    echo "configMapGenerator: [{name: cnat-environment, namespace: cnat-system, behavior: merge, literals: [\"REGION=$REGION\"]}]"
  fi
} >"$overlay/kustomization.yaml"
# The version of Kustomize is in tools/pinned/kustomize/go.mod. Tests have built it before.
"${KUSTOMIZE:-$(GOWORK=off go -C ../tools/pinned/kustomize tool -n kustomize)}" build "$overlay" >"$overlay/all.yaml"
sed "${RUNBOOKS:+s|runbook: 06-shipping/runbooks/|runbook_url: $RUNBOOKS/|}" "$overlay/all.yaml"
