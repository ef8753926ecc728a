#!/bin/sh
# One account may read the metrics, and another may not.
cd "$(dirname "$0")/../../.." || exit 1

for answer in 'default: 403' 'cnat-metrics-reader: 200'; do
	if ! grep -q "^$answer" metrics.log 2>/dev/null; then
		echo "metrics.log does not show yet that the answer to $answer: read the metrics with the token of each account, as the step does"
		exit 1
	fi
done
echo done
