#!/bin/sh
# What the lesson made is gone.
cd "$(dirname "$0")/../../.." || exit 1

if ! left=$(kubectl get crds,namespaces,clusterroles,clusterrolebindings -o name 2>&1); then
	echo "the cluster does not answer: $left"
	exit 1
fi
if left=$(echo "$left" | grep -E 'cnat|settingslayers|team-'); then
	echo "these are still there: delete them as the step does:" $left
	exit 1
fi
for file in stolen.log scope.log manager.log metrics.log may.log view.log manager.pid manager.kubeconfig default.metrics cnat-metrics-reader.metrics; do
	if [ -e "$file" ]; then
		echo "$file is still there: rm $file"
		exit 1
	fi
done
echo done
