#!/bin/sh
# Prints how the rules for Leases in the bundle of v0.6.1 differ from those of the Role.
set -eu
cd "$(dirname "$0")/../../.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
awk '/^kind: Role$/ { role = 1 } rules; role && /^rules:/ { rules = 1 }' config/rbac/role.yaml >"$dir/role"
awk '/^      permissions:/ { rules = 1; next } rules && /serviceAccountName/ { exit } rules && !/- rules:/ { sub(/^        /, ""); print }' \
  packaging/bundle/v0.6.1/manifests/cnat.clusterserviceversion.yaml >"$dir/granted"
if diff "$dir/role" "$dir/granted"; then echo 'the bundle grants what the Role grants'; fi
