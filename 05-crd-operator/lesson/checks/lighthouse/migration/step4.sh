#!/bin/sh
# The next release owns what the last one did.
cd "$(dirname "$0")/../../../.." || exit 1

if [ ! -x bin/next ]; then
	echo "bin/next is not there yet: sh lighthouse/migration/next.sh lighthouse/next, and build it"
	exit 1
fi
versions=$(kubectl get deployments -o jsonpath='{range .items[*]}{.metadata.ownerReferences[0].apiVersion}{"\n"}{end}' | sort -u)
if [ "$versions" != coast.example.com/v1beta1 ]; then
	echo "a Deployment still names its owner in another version than v1beta1: run bin/next until all have been applied"
	exit 1
fi
if [ -e lighthouse/next ]; then
	echo "lighthouse/next is still there: rm -r lighthouse/next"
	exit 1
fi
echo done
