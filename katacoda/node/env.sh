# What a shell on a hosted node needs, as make env gives it for the lab. It is sourced: by
# the reader's shell, by the checks and by setup.sh.
export HOME="${HOME:-/root}"
export KUBECONFIG=/root/.kube/config
# Without an API server for tests, a test that needs one says so.
if [ -d /root/hacking-a-controller/lab/bin ]; then
	export KUBEBUILDER_ASSETS=/root/hacking-a-controller/lab/bin
fi
export PATH="/usr/local/go/bin:$PATH"
export GOWORK=off
# The cluster needs half of the 4 GB.
export GOFLAGS=-p=1
export GOMEMLIMIT=1GiB
