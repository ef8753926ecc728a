#!/bin/sh
# An operator with a stale cache has listed the layers live, and deleted nothing.
cd "$(dirname "$0")/../../.." || exit 1

# shellcheck disable=SC2002 # no proxy.log is no line
if [ "$(cat proxy.log 2>/dev/null | grep -c 'verb="GET".*/namespaces/default/settingslayers" status="200')" -lt 2 ]; then
	echo "proxy.log does not show two live lists of layers yet: run a settings whose cache of layers is stale, and another that is up to date, and change the ConfigMap"
	exit 1
fi
if grep -q 'verb="DELETE"' proxy.log; then
	echo "proxy.log shows a DELETE: the operator removed something because of its stale cache"
	exit 1
fi
if [ "$(kubectl get configmap settings -o jsonpath='{.data.colour}' 2>/dev/null)" != green ]; then
	echo "there is no ConfigMap settings with the colour green: apply config/samples/settings.yaml while settings runs"
	exit 1
fi
echo done
