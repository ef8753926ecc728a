#!/bin/sh
# printclusters has shown a cluster come, change and go.
cd "$(dirname "$0")/../../../.." || exit 1

for event in 'ADDED .*size=3' 'MODIFIED .*size=5' 'DELETED .*size=5'; do
	if ! grep -q "^$event" print.log 2>/dev/null; then
		echo "print.log has no line $event yet: create demo, change its size to 5 and delete it while printclusters runs"
		exit 1
	fi
done
echo done
