#!/bin/sh
# Has the kubelet run kube-scheduler from another image, with the configuration in this folder:
# place.sh IMAGE. Needs a lab whose scheduler is a static pod, in the current shell: make lab-up,
# eval "$(make -s env)", lab up --static-pods.
set -eu
manifest=$(dirname "$KUBECONFIG")/static-pods/kube-scheduler.yaml
new=$(dirname "$manifest")/.new # the kubelet reads no file whose name begins with a dot
here=$(CDPATH='' cd "$(dirname "$0")" && pwd)

if grep -q -e --config= "$manifest"; then
	kubectl set image --local -f "$manifest" "kube-scheduler=$1" -o yaml >"$new"
else
	patch=$(sed "s|IMAGE|$1|; s|CONFIG|$here/config.yaml|" "$here/patch.yaml")
	kubectl patch --local -f "$manifest" --type=json -p "$patch" -o yaml >"$new"
fi
mv "$new" "$manifest"
