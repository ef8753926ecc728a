#!/bin/sh
# Makes a hosted node ready for a stage: setup.sh FOLDER GO-VERSION, in a clone in
# /root/hacking-a-controller. It is run once, on a node that somebody else will throw
# away. /tmp/workshop.progress tells what it is doing.
set -eu
folder=$1
version=$2
repository=/root/hacking-a-controller
. "$repository/katacoda/node/env.sh"

doing() {
	echo "$1" >> /tmp/workshop.progress
	echo "==> $1"
}

doing "installing Go $version"
case $(uname -m) in
x86_64) architecture=amd64 ;;
aarch64) architecture=arm64 ;;
*)
	echo "there is no Go for $(uname -m) here" >&2
	exit 1
	;;
esac
curl --fail --silent --show-error --location --retry 3 --max-time 600 \
	--output /tmp/go.tar.gz "https://go.dev/dl/go$version.linux-$architecture.tar.gz"
rm -rf /usr/local/go
tar -C /usr/local -xzf /tmp/go.tar.gz
rm /tmp/go.tar.gz
install -m 755 "$repository/katacoda/node/lab.sh" /usr/local/bin/lab
# For other tabs of the reader.
echo ". $repository/katacoda/node/env.sh" >> /root/.bashrc

doing 'waiting for the cluster'
waited=0
until kubectl get serviceaccount default >/dev/null 2>&1; do
	waited=$((waited + 1))
	if [ "$waited" -gt 150 ]; then
		kubectl get nodes || true
		echo "the cluster is not usable after five minutes" >&2
		exit 1
	fi
	sleep 2
done

cd "$repository/$folder"
# An API server for tests, of the Kubernetes that the stage is made for.
if grep -q '^export KUBEBUILDER_ASSETS' README.md; then
	kubernetes=$(sed -n 's#^\tk8s.io/api v0\.\([0-9]*\)\..*#1.\1.x#p' go.mod)
	doing "getting the API server of Kubernetes $kubernetes"
	assets=$(go run sigs.k8s.io/controller-runtime/tools/setup-envtest@v0.25.1 use "$kubernetes" --bin-dir /usr/local/envtest -p path)
	mkdir -p "$repository/lab/bin"
	ln -s "$assets"/* "$repository/lab/bin/"
fi

doing 'compiling the stage for the first time'
go build ./...
doing 'ready'
