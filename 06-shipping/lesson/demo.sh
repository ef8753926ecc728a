#!/bin/sh
# Installs the manager as its users do, and shows that it works. It goes on working
# until make undeploy.
#
#	demo.sh PROGRAM     PROGRAM is tools/cmd/image, compiled
#
# VERSION is the version to make and to install.
set -eu
version=${VERSION:-v0.6.0}
program=$PWD/$1
cd "$(dirname "$0")/.."

say() { printf '\n==> %s\n' "$1"; }

say "the image, without Docker"
# The lab's node is this machine.
"$program" --version="$version" --platform="$(go env GOOS)/$(go env GOARCH)"
lab load ../bin/cnat-manager.tar

say "install"
sh dist.sh "$version" | kubectl apply -f -
kubectl rollout status -n cnat-system deployment/cnat-manager --timeout=5m
kubectl get pods -n cnat-system -o wide

say "an At that is due in five seconds"
kubectl delete at example-at --ignore-not-found >/dev/null
kubectl wait --for=delete pod/example-at-pod --timeout=5m >/dev/null
due=$(($(date +%s) + 5))
# GNU's date and BSD's differ in how they are told a time.
schedule=$(date -u -d "@$due" +%Y-%m-%dT%H:%M:%SZ 2>/dev/null || date -u -r "$due" +%Y-%m-%dT%H:%M:%SZ)
sed "s/schedule: .*/schedule: \"$schedule\"/" config/samples/at.yaml | kubectl apply -f -
kubectl wait --for=jsonpath='{.status.phase}'=DONE at/example-at --timeout=5m
kubectl logs example-at-pod

say "its metrics, for an account that may read them"
sh metrics.sh | grep -E '^(cnat|settings)_'
