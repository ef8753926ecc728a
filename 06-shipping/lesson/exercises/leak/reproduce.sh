#!/bin/sh
# Lets Ats run for a minute in a lab of its own, prints whether the goroutines become more, and where
# those of the leader wait. Needs the lab's programs: eval "$(make -s env)" at the top of the repository.
cd "$(dirname "$0")/../../.." || exit 1
. lesson/reproduce.sh
rm -f bin/goroutine.pprof
sh load.sh soak --for=1m >"$dir/soak.log" 2>&1 || : # it fails because something grows
grep goroutines "$dir/soak.log" || cat "$dir/soak.log"
if [ -e bin/goroutine.pprof ]; then
	echo "most goroutines wait in:"
	go tool pprof -top -nodecount=5 bin/goroutine.pprof
fi
