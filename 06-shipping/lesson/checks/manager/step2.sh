#!/bin/sh
# A manager for two namespaces has watched those, and nothing in the whole cluster.
cd "$(dirname "$0")/../../.." || exit 1

for namespace in team-a team-b; do
	if ! lab logs requests | grep -q "/namespaces/$namespace/pods?.*watch=true"; then
		echo "lab logs requests does not show yet a watch of the pods in $namespace: lab run the manager with NAMESPACES=team-a,team-b"
		exit 1
	fi
done
if lab logs requests | grep -q ' /api/v1/pods?.*watch=true'; then
	echo "lab logs requests shows a watch of all pods: NAMESPACES=team-a,team-b is missing"
	exit 1
fi
echo done
