#!/bin/sh
# A standby has taken over from a leader that ended gracefully.
cd "$(dirname "$0")/../../.." || exit 1

if [ "$(kubectl get at led-1 led-5 -o jsonpath='{.items[*].status.phase}' 2>/dev/null)" != "DONE DONE" ]; then
	echo "the Ats led-1 to led-5 are not DONE yet: apply them while a replica leads"
	exit 1
fi
if ! grep -q 'Successfully acquired lease' two.log 2>/dev/null || ! grep -q 'All workers finished' one.log; then
	echo "two.log does not show yet that replica-2 has taken over from replica-1: stop the first with kill"
	exit 1
fi
echo done
