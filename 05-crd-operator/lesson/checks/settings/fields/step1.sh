#!/bin/sh
# The layers were merged, and report it.
cd "$(dirname "$0")/../../../.." || exit 1

if [ ! -x bin/settings ]; then
	echo "settings is not built yet: go build -o bin/ ./cmd/settings"
	exit 1
fi
if [ "$(kubectl get configmap settings -o jsonpath='{.data.colour} {.data.log-level}' 2>/dev/null)" != "green debug" ]; then
	echo "the ConfigMap settings is not what the layers say: apply config/samples/settings.yaml, and run settings"
	exit 1
fi
if [ "$(kubectl get layer defaults -o jsonpath='{.status.conditions[0].reason}')" != PartlyOverridden ]; then
	echo "the layer defaults is not PartlyOverridden yet: run settings"
	exit 1
fi
echo done
