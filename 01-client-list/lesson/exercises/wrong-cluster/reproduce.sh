#!/bin/sh
# Runs client-list with a KUBECONFIG that does not exist, in a home whose ~/.kube/config leads to
# "production". Nothing listens there. Run it at the top of the exercise's copy.
set -eu
dir=$(mktemp -d)
trap 'rm -r "$dir"' EXIT
go -C 01-client-list build -o "$dir/client-list" .
mkdir "$dir/.kube"
cat > "$dir/.kube/config" << END
clusters: [{name: production, cluster: {server: "https://127.0.0.1:1/production"}}]
contexts: [{name: production, context: {cluster: production}}]
current-context: production
END
cd "$dir"
for arguments in "" --kubeconfig=staging.yamll; do
	echo "KUBECONFIG=staging.yamll ./client-list${arguments:+ $arguments}"
	HOME=$dir KUBECONFIG=staging.yamll ./client-list $arguments || echo "exit code $?"
done
