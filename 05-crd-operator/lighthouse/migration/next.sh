#!/bin/sh
# Writes the next release of the operator into a folder: the one that reads and writes v1beta1. It takes
# three substitutions. versions.go stays, as the next release still converts for clients of v1alpha1.
#
#   sh lighthouse/migration/next.sh FOLDER
set -eu
operator=$(dirname "$0")/../operator
mkdir -p "$1"
for file in "$operator"/*.go; do
  case $file in
  *_test.go) ;;
  */versions.go) cp "$file" "$1" ;;
  *) sed -e 's/v1alpha1/v1beta1/g' \
      -e 's/light\.Spec\.Flash/light.Spec.Character.String()/' \
      -e 's/light\.Spec\.Position == ""/light.Spec.Position == v1beta1.Unlisted/' "$file" >"$1/${file##*/}" ;;
  esac
done
