#!/bin/sh
# observe services -a '{.spec.clusterIP}' --type-env-var=EVENT --delete=./zone.sh --names=./zone.sh -- ./zone.sh
# Keeps a zone file for each Service with an address. Without arguments it prints which there are.
set -eu
cd "${ZONES:-.}"
case $#:${EVENT-}:${3-} in
0:*) find . -name '*.zone' | sed 's,^./\(.*\)\.\(.*\)\.zone$,\2/\1,' ;;
*:Deleted:* | *:*:None | *:*:) rm -f "$2.$1.zone" ;;
*)
	case $3 in *:*) type=AAAA ;; *) type=A ;; esac
	printf '%s.%s.svc.example.com. 60 IN %s %s\n' "$2" "$1" "$type" "$3" >"$2.$1.new"
	mv "$2.$1.new" "$2.$1.zone"
	;;
esac
