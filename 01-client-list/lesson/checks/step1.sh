#!/bin/sh
# Step 1: the program is built, and the kubeconfig names a cluster.
cd "$(dirname "$0")/../.." || exit 1

if [ ! -x client-list ]; then
	echo "client-list is not built yet: go build -o client-list ."
	exit 1
fi
if ! kubectl config current-context >/dev/null 2>&1; then
	echo "no kubeconfig with a current context is in use: start the lab, then eval \"\$(make -s -C .. env)\""
	exit 1
fi
echo done
