# What reproductions with secretsync have in common. It builds the program, and makes a source,
# pier/db, and a target, mole. All that is gone at the end.
set -eu
dir=$(mktemp -d)
pids=
end() {
	kill $pids || true
	wait || true
	kubectl delete namespace pier mole
	rm -r "$dir"
}
trap 'end > /dev/null 2>&1' EXIT
trap 'exit 1' INT TERM
go -C 04-informer-queue build -o "$dir/" ./cmd/secretsync
kubectl config view --minify --flatten > "$dir/kubeconfig"
kubectl --kubeconfig="$dir/kubeconfig" config set-cluster "$(kubectl config view --minify -o 'jsonpath={.clusters[0].name}')" \
	--server=http://127.0.0.1:8016 > /dev/null

# create makes pier/db.
create() {
	kubectl -n pier create secret generic db --from-literal=password=tide
	kubectl -n pier annotate secret db example.com/secretsync=
}
{
	kubectl create namespace pier
	kubectl create namespace mole
	kubectl annotate namespace mole example.com/secretsync=
	create
} > /dev/null

# start runs secretsync with more flags, and stop ends it.
start() {
	"$dir/secretsync" --source-namespace=pier "$@" >> "$dir/log" 2>&1 &
	program=$!
	pids="$pids $program"
}
stop() {
	kill "$1"
	wait "$1" 2> /dev/null || true
}

# proxy starts kubectl proxy with more flags. secretsync --kubeconfig="$dir/kubeconfig" goes through it.
proxy() {
	kubectl proxy --port=8016 -v=6 "$@" > "$dir/proxy" 2>&1 &
	proxy=$!
	pids="$pids $proxy"
	soon kubectl --kubeconfig="$dir/kubeconfig" get --raw /readyz
}

# says waits for words in the log of secretsync, and soon for a command to succeed.
says() { soon grep "$1" "$dir/log"; }
soon() {
	tries=0
	until "$@" > /dev/null 2>&1; do
		tries=$((tries + 1))
		if [ $tries = 600 ]; then
			echo "this does not come true within two minutes: $*" >&2
			return 1
		fi
		sleep 0.2
	done
}
