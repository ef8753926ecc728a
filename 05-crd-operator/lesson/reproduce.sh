# What the reproductions of the exercises share. Each of them reads this in the folder of the
# stage. They need a cluster, such as the lab: eval "$(make -s env)" at the top of the repository.
#
# They work in the namespace reproduce. At the end it is gone, nothing runs in the background,
# and the CRDs are what they were.
set -eu

dir=$(mktemp -d)
jobs='' proxy=''
crds='config/crd/*.yaml'

end() {
	trap - EXIT INT TERM
	kill $jobs $proxy 2>/dev/null || : # unquoted: there may be none
	wait 2>/dev/null || :
	kubectl delete ats,settingslayers --all --ignore-not-found >/dev/null 2>&1 || :
	for kept in $(kubectl get pods -o name) $(kubectl get lighthouses -o name 2>/dev/null); do # no operator is left to remove its finalizer
		kubectl patch "$kept" --type=merge -p '{"metadata":{"finalizers":null}}' >/dev/null 2>&1 || :
	done
	kubectl delete namespace reproduce --ignore-not-found >/dev/null 2>&1 || :
	for crd in $crds; do
		before=$dir/$(basename "$crd")
		if [ -s "$before" ]; then
			kubectl apply -f "$before" >/dev/null
		elif [ -e "$before" ]; then
			kubectl delete -f "$crd" --ignore-not-found >/dev/null
		fi
	done
	rm -rf "$dir"
}

# begin makes the namespace, and programs work in it.
begin() {
	(umask 077 && kubectl config view --minify --flatten >"$dir/kubeconfig")
	export KUBECONFIG="$dir/kubeconfig"
	kubectl config set-context --current --namespace=reproduce >/dev/null
	kubectl create namespace reproduce >/dev/null
	trap end EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	await serviceaccount
	for crd in $crds; do
		kubectl apply view-last-applied -f "$crd" -o yaml >"$dir/$(basename "$crd")" 2>/dev/null || :
		kubectl apply -f "$crd" >/dev/null
	done
	kubectl wait --for=condition=Established --timeout=2m crd --all >/dev/null
	await served
}

serviceaccount() { kubectl get serviceaccount default >/dev/null 2>&1; }
served() { kubectl get ats,settingslayers >/dev/null 2>&1; }

# within reports whether a command succeeds in so many seconds: within 5 is at/example-at .status.phase DONE
within() {
	limit=$(($(date +%s) + $1))
	shift
	until "$@"; do
		[ "$(date +%s)" -lt $limit ] || return 1
		sleep 0.2
	done
}

# await waits until a command succeeds, for two minutes at most.
await() {
	within 120 "$@" && return
	echo "this does not come true within two minutes: $*" >&2
	cat "$dir"/*.log >&2 2>/dev/null || :
	exit 1
}

# is reports whether a field of an object has a value: is at/example-at .status.phase DONE
is() { [ "$(kubectl get "$1" --ignore-not-found -o jsonpath="{$2}")" = "$3" ]; }

# operator builds a program and runs it, through the proxy if there is one. Its log is
# $dir/operator.log.
operator() {
	go build -o "$dir/$1" "./cmd/$1"
	"$dir/$1" --kubeconfig="$dir/${proxy:+proxy.}kubeconfig" >>"$dir/operator.log" 2>&1 &
	jobs="$jobs $!"
}

# through puts a kubectl proxy between the operator and the API server, or another one in its
# place: through --reject-paths='/status$'. It logs each request to $dir/proxy.log.
through() {
	if [ -n "$proxy" ]; then
		kill "$proxy" && wait "$proxy" 2>/dev/null || :
	fi
	: >"$dir/proxy.out"
	kubectl proxy --port="${port:-0}" -v=6 "$@" >"$dir/proxy.out" 2>"$dir/proxy.log" &
	proxy=$!
	await grep -q 'Starting to serve' "$dir/proxy.out"
	if [ -z "${port:-}" ]; then
		port=$(sed -n 's/.*127.0.0.1://p' "$dir/proxy.out")
		cp "$dir/kubeconfig" "$dir/proxy.kubeconfig"
		kubectl --kubeconfig="$dir/proxy.kubeconfig" config set-cluster "$(kubectl config view -o jsonpath='{.clusters[0].name}')" --server="http://127.0.0.1:$port" >/dev/null
	fi
}

# at creates an At that is due: at NAME COMMAND [SCHEDULE]
at() {
	kubectl create -f - >/dev/null <<-END
		apiVersion: cnat.programming-kubernetes.info/v1alpha1
		kind: At
		metadata: {name: $1}
		spec:
		  schedule: "${3:-2019-04-12T10:12:00Z}"
		  command: |-
		    $2
	END
}

# coast begins with an office, the Secret with its token, the operator of Lighthouses, and a Lighthouse that
# is registered. Its arguments are flags of the office.
coast() {
	crds="$crds lighthouse/operator/config/crd/*.yaml"
	begin
	await lighthouses
	go build -o "$dir/" ./lighthouse/office ./lighthouse/operator
	printf trinity >"$dir/token"
	OFFICE_TOKEN=$(cat "$dir/token") "$dir/office" -listen 127.0.0.1:0 -takes 1s "$@" >"$dir/office.log" 2>&1 &
	jobs="$jobs $!"
	await grep -q 'opens on' "$dir/office.log"
	office="http://$(sed -n 's/.*opens on //p' "$dir/office.log")"
	kubectl create secret generic light-list --from-file="$dir/token" >/dev/null
	"$dir/operator" -office "$office" >"$dir/operator.log" 2>&1 &
	jobs="$jobs $!"
	kubectl apply -f lighthouse/operator/config/samples/eddystone.yaml >/dev/null
	kubectl wait --for=jsonpath='{.status.number}' lighthouse/eddystone --timeout=2m >/dev/null
}

lighthouses() { kubectl get lighthouses >/dev/null 2>&1; }

# settings changes the office: settings '{"down": true}'
settings() { curl --silent -X PUT "$office/admin/settings" -d "$1"; }
