# What reproductions with secretsync have in common. It builds the program, and makes a source,
# pier/db, and a target, mole. All that is gone at the end.
. 04-informer-queue/lesson/reproduce/common.sh
clean() { kubectl delete namespace pier mole; }
go -C 04-informer-queue build -o "$dir/" ./secretsync

# create makes pier/db.
create() {
	printf tide | kubectl -n pier create secret generic db --from-file=password=/dev/stdin
	kubectl -n pier annotate secret db example.com/secretsync=
}
{
	kubectl create namespace pier
	kubectl create namespace mole
	kubectl annotate namespace mole example.com/secretsync=
	create
} > /dev/null

# start runs secretsync, with more variables in its environment.
start() {
	env "$@" "$dir/secretsync" --source-namespace=pier >> "$dir/log" 2>&1 &
	program=$!
	pids="$pids $program"
}

# logs waits for words in the log of secretsync.
logs() { soon grep "$1" "$dir/log"; }
