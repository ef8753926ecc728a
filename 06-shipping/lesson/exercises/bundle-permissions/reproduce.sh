#!/bin/sh
# Makes a bundle, and prints how its rules for Leases differ from those of the Role.
set -eu
cd "$(dirname "$0")/../../.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
sh dist.sh v0.6.2 >"$dir/install.yaml"
go -C tools build -o "$dir/" ./cmd/bundle
"$dir/bundle" make --base=packaging/olm/base.yaml --version=v0.6.2 --output="$dir/bundled" <"$dir/install.yaml" >/dev/null
awk '/^kind: Role$/ { role = 1 } role && /^---/ { exit } rules; role && /^rules:/ { rules = 1 }' "$dir/install.yaml" >"$dir/role"
awk '/^      permissions:/ { rules = 1; next } rules && /serviceAccountName/ { exit } rules && !/- rules:/ { sub(/^        /, ""); print }' \
  "$dir/bundled/manifests/cnat.clusterserviceversion.yaml" >"$dir/granted"
if diff "$dir/role" "$dir/granted"; then echo 'the bundle grants what the Role grants'; fi
