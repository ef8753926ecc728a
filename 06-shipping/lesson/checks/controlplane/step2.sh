#!/bin/sh
# Step 2: the scheduler is a static pod, and its mirror was deleted while the container ran on.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q '^kube-scheduler .*healthy (static pod)' status.log 2>/dev/null; then
	echo "status.log does not show a scheduler that is a static pod: lab up --static-pods"
	exit 1
fi
if [ "$(awk '/lab:/ { print $1 }' mirror.log 2>/dev/null | sort -u | wc -l)" -ne 2 ]; then
	echo "mirror.log does not show two mirror pods: delete the first, and wait for the second"
	exit 1
fi
if [ "$(awk '/lab:/ { print $2, $3 }' mirror.log | sort -u | wc -l)" -ne 1 ]; then
	echo "mirror.log shows two containers: something else than the mirror was deleted"
	exit 1
fi
echo done
