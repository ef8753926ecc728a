#!/bin/sh
# Lets Ats run for a minute in a lab of its own, prints what grows, and then where the goroutines
# of the leader wait. Needs the lab's programs: eval "$(make -s env)" at the top of the repository.
set -eu
cd "$(dirname "$0")/../../.."
rm -f bin/goroutine.pprof
sh load.sh soak --for=1m || [ -e bin/goroutine.pprof ] # it fails because something grows
if [ -e bin/goroutine.pprof ]; then
	echo "most goroutines wait in:"
	go tool pprof -top -nodecount=5 bin/goroutine.pprof
fi
