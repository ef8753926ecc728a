#!/bin/sh
# Lets Ats run for a minute in a lab of its own, prints whether the leader's goroutines become more, and
# where most of them wait. Needs the lab's programs: eval "$(make -s env)" at the top of the repository.
cd "$(dirname "$0")/../../.." || exit 1
. lesson/reproduce.sh
rm -f bin/goroutine.pprof
echo "measuring for a minute, after building KWOK (minutes the first time)"
sh load.sh soak --for=1m >"$dir/soak.log" 2>&1 || : # it fails because something grows
grep '^OF \|^leader .*goroutines' "$dir/soak.log" || cat "$dir/soak.log"
if [ -e bin/goroutine.pprof ]; then
	echo "most goroutines wait in:"
	go tool pprof -top -show=06-shipping/ -nodecount=1 bin/goroutine.pprof 2>&1 | tail -n 1 | awk '{ print $1, $NF }'
fi
