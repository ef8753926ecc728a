#!/bin/sh
# Step 3: a new leader has reconciled 2000 Ats, and then did nothing.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q '^it has reconciled them all ' standing.log 2>/dev/null; then
	echo "standing.log does not show another leader: sh load.sh standing --ats=2000 --idle=5s | tee standing.log"
	exit 1
fi
if ! awk '/^it has done nothing / { found = $(NF-4) < 100 } END { exit !found }' standing.log; then
	echo "the manager makes requests although nothing is due: is it the one of this repository?"
	exit 1
fi
echo done
