#!/bin/sh
# kubectl has shown a cluster come, change and go.
cd "$(dirname "$0")/../../../.." || exit 1

for event in 'ADDED *demo *3' 'MODIFIED *demo *5' 'DELETED *demo *5'; do
	if ! grep -q "^$event" print.log 2>/dev/null; then
		echo "print.log has no line $event yet: create demo, change its size to 5 and delete it while kubectl watches"
		exit 1
	fi
done
echo done
