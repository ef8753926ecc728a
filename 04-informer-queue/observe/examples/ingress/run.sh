#!/bin/sh
# An Ingress for every Service that asks for one with the label expose=yes. The
# arguments are those of observe, such as -n or --once.
cd "$(dirname "$0")" || exit 1
exec "${OBSERVE:-observe}" services --selector expose=yes "$@" \
	--argument '{.spec.ports[0].port}' \
	--argument '{.metadata.annotations.example\.com/host}' \
	--names ./names.sh \
	--delete ./delete.sh \
	-- ./apply.sh
