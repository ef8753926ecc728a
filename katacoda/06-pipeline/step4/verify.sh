#!/bin/sh
# Written by workshop lesson build. It ends with 0 if the step is done. The host does not
# show what it prints, so that is written into the reader's terminal, too.
repository=/root/hacking-a-controller

say() {
	echo "$1"
	if terminal=$(cat /tmp/workshop.terminal 2>/dev/null); then
		printf '\n%s\n' "$1" > "$terminal" || true
	fi
}

if [ "$(cat /tmp/workshop.ended 2>/dev/null)" != 0 ]; then
	say "the node is not ready yet: wait until the terminal says so"
	exit 1
fi
. "$repository/katacoda/node/env.sh"
cd "$repository/06-shipping" || exit 1
said=$(sh lesson/checks/pipeline/step4.sh 2>&1)
code=$?
say "$said"
exit "$code"
