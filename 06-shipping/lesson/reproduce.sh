# What the reproductions of the exercises share. Each of them reads this in the folder of the stage.
set -eu
dir=$(mktemp -d)
jobs=
clean() { :; } # a reproduction that makes objects has its own
end() {
	trap - EXIT INT TERM
	kill -CONT $jobs 2>/dev/null || : # unquoted: there may be none; one of them may be stopped
	kill $jobs 2>/dev/null || :
	wait 2>/dev/null || :
	clean >/dev/null
	rm -rf "$dir"
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# within reports whether a command succeeds in so many seconds: within 5 probe
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
	tail -n 20 "$dir"/*.log >&2 2>/dev/null || :
	exit 1
}

# allowed reports whether the API server lets the manager do something: allowed create pods -n team-a
allowed() { kubectl auth can-i "$@" --as=system:serviceaccount:cnat-system:cnat-manager >/dev/null 2>&1; }

# roles creates what the manager may do, and no manager, or deletes it: roles create
roles() {
	kubectl "$@" namespace cnat-system >/dev/null
	kubectl "$@" -f config/rbac/role.yaml -f config/rbac/role_binding.yaml >/dev/null
}
