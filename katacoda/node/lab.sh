#!/bin/sh
# lab, on a node that kubeadm has made: those of the lab's commands that lessons run.
set -u

# status prints what lab status prints first: each component and its process.
status() {
	printf '%-25s%s\n' COMPONENT PID
	for component in etcd kube-apiserver kube-controller-manager kube-scheduler kubelet; do
		# The kernel keeps 15 characters of a name.
		pid=$(pgrep -o -x "$(printf '%.15s' "$component")") || pid=-
		printf '%-25s%s\n' "$component" "$pid"
	done
}

# load gives the node an image, and prints the names that it has in the archive.
load() {
	if [ ! -f "$1" ]; then
		echo "error: there is no archive $1" >&2
		return 1
	fi
	ctr --namespace k8s.io images import "$1" >/dev/null || return 1
	tar -xOf "$1" index.json | grep -o '"io.containerd.image.name": *"[^"]*"' | sed 's/^.*: *"\(.*\)"$/loaded \1/'
}

case ${1:-} in
status)
	status
	;;
load)
	load "${2:?the archive is missing: lab load IMAGE.tar}"
	;;
*)
	echo "error: the lab is not on this node, whose cluster was made by kubeadm; here are only: lab status, lab load IMAGE.tar" >&2
	exit 1
	;;
esac
