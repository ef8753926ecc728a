#!/bin/sh
# A manager that may work in two namespaces was refused all, and has worked in one of them.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q 'cannot list resource "ats".*at the cluster scope' scope.log 2>/dev/null; then
	echo "scope.log does not show yet that the manager may not list all Ats: delete the ClusterRoleBinding, and start it without NAMESPACES"
	exit 1
fi
if [ "$(kubectl logs example-at-pod -n team-a 2>/dev/null)" != YAY ]; then
	echo "the pod example-at-pod in team-a has not printed YAY yet: start the manager with NAMESPACES=team-a,team-b, and apply config/samples/at.yaml -n team-a"
	exit 1
fi
echo done
