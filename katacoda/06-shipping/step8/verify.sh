#!/bin/sh
# Written by workshop lesson build. It prints done and ends with 0, or prints what is
# missing and ends with 1.
repository=/root/hacking-a-controller

if [ "$(cat /tmp/workshop.ended 2>/dev/null)" != 0 ]; then
	echo "the node is not ready yet: wait until the terminal says so"
	exit 1
fi
. "$repository/katacoda/node/env.sh"
cd "$repository/06-shipping" || exit 1
sh lesson/checks/step8.sh || exit 1
