#!/bin/sh
# Both versions are served, and nothing is converted.
cd "$(dirname "$0")/../../../.." || exit 1

if ! spec=$(kubectl get lighthouses.v1beta1.coast.example.com eddystone -o jsonpath='{.spec}' 2>&1); then
	echo "v1beta1 isn't served yet: kubectl apply -f lighthouse/operator/config/versions/coast.example.com_lighthouses.yaml"
	exit 1
fi
case $spec in
*lamps*) ;;
*)
	echo "the Lighthouse eddystone can't be read in v1beta1: $spec"
	exit 1
	;;
esac
echo done
