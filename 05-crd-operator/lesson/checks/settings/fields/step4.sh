#!/bin/sh
# An operator with a stale cache has listed the layers live, and deleted nothing.
cd "$(dirname "$0")/../../../.." || exit 1

if [ "$(lab logs requests | grep -c ' GET .*/namespaces/default/settingslayers 200')" -lt 2 ]; then
	echo "lab logs requests does not show two live lists of layers yet: lab run a settings whose cache of layers is stale, and another that is up to date, and change the ConfigMap"
	exit 1
fi
if lab logs requests | grep -q ' settings DELETE '; then
	echo "lab logs requests shows a DELETE: the operator removed something because of its stale cache"
	exit 1
fi
if [ "$(kubectl get configmap settings -o jsonpath='{.data.colour}' 2>/dev/null)" != green ]; then
	echo "there is no ConfigMap settings with the colour green: apply config/samples/settings.yaml while settings runs"
	exit 1
fi
echo done
