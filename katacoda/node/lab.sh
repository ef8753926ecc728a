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

# seconds reads a time as Go writes it: 90s, 2m, 1m30s, 1h.
seconds() {
	rest=$1 total=0
	while [ -n "$rest" ]; do
		number=${rest%%[hms]*}
		unit=${rest#"$number"}
		case $number in '' | *[!0-9]*) return 1 ;; esac
		case $unit in
		h*) total=$((total + number * 3600)) ;;
		m*) total=$((total + number * 60)) ;;
		s*) total=$((total + number)) ;;
		*) return 1 ;;
		esac
		rest=${unit#?}
	done
	if [ "$total" = 0 ]; then return 1; fi
	echo "$total"
}

# await runs a command again and again until it succeeds, and prints what it then printed.
await() {
	limit=2m
	case ${1:-} in
	--for=*)
		limit=${1#--for=}
		shift
		;;
	--for)
		limit=${2:-}
		shift $(($# > 1 ? 2 : 1))
		;;
	esac
	if ! limit=$(seconds "$limit"); then
		echo "error: --for is a time like 90s or 2m" >&2
		return 1
	fi
	if [ $# != 1 ] || [ -z "$1" ]; then
		echo "error: name the command, in quotes: lab await 'test -e ready'" >&2
		return 1
	fi
	tries=$(mktemp -d) || return 1
	trap 'rm -rf "$tries"' EXIT
	# A try runs in the background: else the shell would wait for its end before it heard a signal.
	try=
	trap 'if [ -n "$try" ]; then kill "$try"; fi 2>/dev/null; exit 1' INT TERM
	end=$(($(date +%s) + limit)) left=$limit
	# However busy the node is, there is one try.
	while [ "$left" -gt 0 ]; do
		timeout --kill-after=1 "$left" sh -c "$1" >"$tries/out" 2>"$tries/err" </dev/null &
		try=$!
		if wait "$try"; then
			cat "$tries/out"
			return
		fi
		try=
		sleep 0.5
		left=$((end - $(date +%s)))
	done
	cat "$tries/out" "$tries/err" >&2
	echo "error: still not so after $((limit / 60))m$((limit % 60))s: $1" >&2
	return 1
}

case ${1:-} in
status)
	status
	;;
load)
	load "${2:?the archive is missing: lab load IMAGE.tar}"
	;;
await)
	shift
	await "$@"
	;;
run | cut | freeze | slow | refuse | expire | heal | thaw)
	exec lab-faults "$@" # setup.sh has built it, and runs its proxy
	;;
logs)
	if [ "${2:-}" != requests ]; then
		echo "error: on this node there is only: lab logs requests" >&2
		exit 1
	fi
	cat /run/lab-faults/requests.log
	;;
*)
	echo "error: the lab is not on this node, whose cluster was made by kubeadm; here are only: lab status, lab load IMAGE.tar, lab await 'COMMAND', lab logs requests, and lab run with the faults that lab heal ends" >&2
	exit 1
	;;
esac
