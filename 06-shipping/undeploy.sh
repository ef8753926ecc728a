#!/bin/sh
# Uninstalls the manager, with the CRDs and all Ats and SettingsLayers.
set -eu
cd "$(dirname "$0")"
# What overlays have beside this goes with the namespace, but for one binding.
sh dist.sh | kubectl delete --ignore-not-found -f -
kubectl delete clusterrolebinding cnat-metrics-reader --ignore-not-found
