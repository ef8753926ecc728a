#!/bin/sh
# Uninstalls the manager, with the CRDs and all Ats and SettingsLayers.
set -eu
cd "$(dirname "$0")"
# The overlay for two managers has one object more, which goes with the namespace.
sh dist.sh | kubectl delete --ignore-not-found -f -
kubectl delete clusterrolebinding cnat-metrics-reader --ignore-not-found
