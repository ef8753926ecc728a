# What the reproductions have in common: a folder $dir, programs $pids in the background, and a proxy
# to the API server. At the end all that is gone, and what the function clean removes.
set -eu
dir=$(mktemp -d)
pids=
clean() { :; } # a reproduction that makes objects has its own
end() {
	trap - EXIT INT TERM
	kill $pids || true # unquoted: there may be none
	wait || true
	clean
	rm -r "$dir"
}
trap 'end > /dev/null 2>&1' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# within reports whether a command succeeds in so many seconds: within 5 grep -q updated "$dir/log"
within() {
	limit=$(($(date +%s) + $1))
	shift
	until "$@" > /dev/null 2>&1; do
		[ "$(date +%s)" -lt $limit ] || return 1
		sleep 0.2
	done
}

# soon waits until a command succeeds, for two minutes at most.
soon() {
	within 120 "$@" && return
	echo "this does not come true within two minutes: $*"
	tail -n 20 "$dir/log" "$dir/proxy" 2> /dev/null || true
	exit 1
} >&2

# lines is how many lines of a file match: [ "$(lines updated "$dir/log")" -ge 2 ]
lines() { grep -c -e "$1" "$2" || true; }

# proxy starts kubectl proxy with more flags, always at the same port, and logs each request to
# $dir/proxy. With --kubeconfig="$dir/kubeconfig" a program goes through it.
proxy() {
	: > "$dir/serving"
	kubectl proxy --port="${port:-0}" -v=6 "$@" > "$dir/serving" 2> "$dir/proxy" &
	proxy=$!
	pids="$pids $proxy"
	soon grep 'Starting to serve' "$dir/serving"
	[ -z "${port:-}" ] || return 0
	port=$(sed -n 's/.*127.0.0.1://p' "$dir/serving")
	kubectl config view --minify --flatten > "$dir/kubeconfig"
	kubectl --kubeconfig="$dir/kubeconfig" config set-cluster "$(kubectl config view --minify -o 'jsonpath={.clusters[0].name}')" \
		--server="http://127.0.0.1:$port" > /dev/null
}

# stop ends a program, and waits for its end.
stop() {
	kill "$1"
	wait "$1" 2> /dev/null || true
}
