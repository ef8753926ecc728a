#!/bin/sh
# Registers a Lighthouse with an office that soon forgets a token, and keeps the answer to one call to itself.
cd "$(dirname "$0")/../../.." || exit 1
. lesson/reproduce.sh
coast -forgets 5s
kubectl delete lighthouse eddystone >/dev/null
settings '{"next": ["", "late"]}'
sed 's/eddystone/wolf/' lighthouse/operator/config/samples/eddystone.yaml | kubectl apply -f - >/dev/null
kubectl wait --for=condition=Ready lighthouse/wolf --timeout=2m >/dev/null
echo 'wolf is Ready'
uid=$(kubectl get lighthouse wolf -o jsonpath='{.metadata.uid}')
echo "registrations of wolf that were billed: $(curl --silent "$office/admin/books" | grep -o "\"registered\",\"token\":\"$uid\"" | wc -l | tr -d ' ')"
