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
# The go command of the node's packages downloads another version of itself as a module, and
# compares what is in it with the checksum database of Go.
export DEBIAN_FRONTEND=noninteractive
apt-get update --quiet --quiet
apt-get install --quiet --quiet --yes --no-install-recommends golang-go
zip=$(GOTOOLCHAIN=local go mod download -json "golang.org/toolchain@v0.0.1-go$version.linux-$architecture" | sed -n 's/^\t"Zip": "\(.*\)",$/\1/p')
found=$(sha256sum "$zip" | cut -d ' ' -f 1)
if [ "$found" != "$sum" ]; then
	echo "the Go that was downloaded is not used: its sum is $found, and katacoda/course.yaml wants $sum" >&2
	exit 1
fi
downloaded=$(GOTOOLCHAIN="go$version" go env GOROOT)
if [ "$(head -n 1 "$downloaded/VERSION")" != "go$version" ]; then
	echo "the Go of the node's packages is older than 1.21, and cannot be another version; choose another image in katacoda/course.yaml" >&2
	exit 1
fi
rm -rf /usr/local/go
ln -s "$downloaded" /usr/local/go
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

# The proxy of lab run, which cuts, freezes and slows.
if grep -qr '^lab run\|^lab logs requests\| lab run ' "$repository/katacoda/$scenario"; then
	doing 'building the proxy of lab run'
	go -C "$repository/lab" build -o /usr/local/bin/lab-faults ./cmd/faults
	setsid lab-faults serve </dev/null >/tmp/lab-faults.log 2>&1 &
fi

doing 'compiling what the steps run'
sh "$compile"
doing 'ready'
