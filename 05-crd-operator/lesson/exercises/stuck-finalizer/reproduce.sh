#!/bin/sh
# Deletes a Lighthouse. The office withdraws it, and its answer gets lost.
cd "$(dirname "$0")/../../.." || exit 1
. lesson/reproduce.sh
gone() { [ -z "$(kubectl get lighthouse eddystone --ignore-not-found -o name)" ]; }
withdrawn() { curl --silent "$office/admin/books" | grep -q withdrawn; }
coast
settings '{"next": ["lose"]}'
kubectl delete lighthouse eddystone --wait=false
await withdrawn
curl --silent "$office/admin/books" | grep -q '"lights":\[\]' && echo 'in the Light List: nothing'
if within 15 gone; then
	echo 'the Lighthouse is gone'
else
	echo 'the Lighthouse is Terminating'
fi
