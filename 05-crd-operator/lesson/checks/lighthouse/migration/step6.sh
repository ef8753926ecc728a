#!/bin/sh
# What the lesson made is gone.
cd "$(dirname "$0")/../../../.." || exit 1

if ! crds=$(kubectl get crds,storageversionmigrations -o name 2>&1); then
	echo "the cluster does not answer: $crds"
	exit 1
fi
case $crds in
*lighthouses*)
	echo "the kind Lighthouse or its migration is still there: delete both"
	exit 1
	;;
esac
if [ -n "$(kubectl get deployments -o name)" ]; then
	echo "a Deployment is still there: kubectl delete deployments --all"
	exit 1
fi
for left in certs operator.pid ./*.log; do
	if [ -e "$left" ]; then
		echo "$left is still there: remove it"
		exit 1
	fi
done
echo done
