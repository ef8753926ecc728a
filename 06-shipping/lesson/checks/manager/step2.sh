#!/bin/sh
# A manager for two namespaces has watched those, and nothing in the whole cluster.
cd "$(dirname "$0")/../../.." || exit 1

for namespace in team-a team-b; do
	if ! grep -q "/namespaces/$namespace/pods?.*watch=true" proxy.log 2>/dev/null; then
		echo "proxy.log does not show yet a watch of the pods in $namespace: run the manager through the proxy with NAMESPACES=team-a,team-b"
		exit 1
	fi
done
if grep -q 'url="[^"]*/v1/pods?.*watch=true' proxy.log; then
	echo "proxy.log shows a watch of all pods: NAMESPACES=team-a,team-b is missing"
	exit 1
fi
echo done
