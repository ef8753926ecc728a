#!/bin/sh
# Prints manifests of v1alpha1 for this many Lighthouses, all without lamps.
#
#   sh lighthouse/migration/many.sh 100 | kubectl create -f -
for n in $(seq "$1"); do
  echo "{apiVersion: coast.example.com/v1alpha1, kind: Lighthouse, metadata: {name: light-$n}, spec: {lamps: 0, flash: long short}}"
  echo ---
done
