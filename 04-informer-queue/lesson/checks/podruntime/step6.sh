#!/bin/sh
# Step 6: the fast form printed the same total as the plain one, in fewer lines.
cd "$(dirname "$0")/../../.." || exit 1

minutes() { sed -n 's/^Pods in namespace harbour have been running for \(.*\) minutes\.$/\1/p' "podruntime-$1.log" 2>/dev/null; }
plain=$(minutes plain | tail -n 1) fast=$(minutes fast | tail -n 1)
if [ -z "$plain" ] || [ -z "$fast" ]; then
	echo "podruntime-plain.log or podruntime-fast.log has no line yet: run both programs at the same time"
	exit 1
fi
if ! awk "BEGIN { d = $plain - $fast; exit !(d < 0.1 && d > -0.1) }"; then
	echo "the last totals differ, $plain and $fast minutes: run both programs while pods come and go, and stop them at the same time"
	exit 1
fi
if [ "$(minutes fast | wc -l)" -ge "$(minutes plain | wc -l)" ]; then
	echo "podruntime-fast.log has as many lines as podruntime-plain.log: scale the cranes while both programs run"
	exit 1
fi
echo done
