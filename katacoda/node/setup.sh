#!/bin/sh
# Makes a hosted node ready for a scenario: setup.sh STAGE-FOLDER SCENARIO GO-VERSION
# SUM-AMD64 SUM-ARM64, in a clone in /root/hacking-a-controller. It is run once, on a node
# that somebody else will throw away. /tmp/workshop.progress tells what it is doing.
set -eu
folder=$1
scenario=$2
version=$3
repository=/root/hacking-a-controller
. "$repository/katacoda/node/env.sh"

doing() {
	echo "$1" >> /tmp/workshop.progress
	echo "==> $1"
}

doing "installing Go $version"
case $(uname -m) in
x86_64) architecture=amd64 sum=$4 ;;
aarch64) architecture=arm64 sum=$5 ;;
*)
	echo "there is no Go for $(uname -m) here" >&2
	exit 1
	;;
esac
# The Go that the go command itself downloads where another version is wanted: a zip file,
# whose content the checksum database of Go vouches for.
toolchain="toolchain@v0.0.1-go$version.linux-$architecture"
curl --fail --silent --show-error --location --retry 3 --max-time 600 \
	--output /tmp/go.zip "https://proxy.golang.org/golang.org/toolchain/@v/${toolchain#*@}.zip"
found=$(sha256sum /tmp/go.zip | cut -d ' ' -f 1)
if [ "$found" != "$sum" ]; then
	echo "the Go that was downloaded is not installed: its sum is $found, and katacoda/course.yaml wants $sum" >&2
	exit 1
fi
rm -rf /tmp/go /usr/local/go
if command -v unzip >/dev/null; then
	unzip -q /tmp/go.zip -d /tmp/go
else
	python3 -m zipfile -e /tmp/go.zip /tmp/go
fi
mv "/tmp/go/golang.org/$toolchain" /usr/local/go
rm -r /tmp/go /tmp/go.zip
# The zip file of a module holds neither programs nor the go.mod of another module.
chmod -R +x /usr/local/go/bin /usr/local/go/pkg/tool
mv /usr/local/go/src/_go.mod /usr/local/go/src/go.mod
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
compile=$repository/katacoda/$scenario/compile.sh
# An API server for tests, of the Kubernetes that the stage is made for.
if grep -q '^go test' "$compile"; then
	kubernetes=$(sed -n 's#^\tk8s.io/api v0\.\([0-9]*\)\..*#1.\1.x#p' go.mod)
	doing "getting the API server of Kubernetes $kubernetes"
	assets=$(go run sigs.k8s.io/controller-runtime/tools/setup-envtest@v0.25.1 use "$kubernetes" --bin-dir /usr/local/envtest -p path)
	mkdir -p "$repository/lab/bin"
	ln -s "$assets"/* "$repository/lab/bin/"
fi

doing 'compiling what the steps run'
sh "$compile"
doing 'ready'
