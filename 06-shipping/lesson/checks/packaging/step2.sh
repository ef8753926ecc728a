#!/bin/sh
# Step 2: the schema has refused four values.
cd "$(dirname "$0")/../../.." || exit 1

for place in "additional properties 'replica'" "at '/region'" "at '/image/digest'" "at '/metrics/certSecret'"; do
	if ! grep -q "$place" refused.log 2>/dev/null; then
		echo "refused.log does not have \"$place\": render the chart with each of the four values"
		exit 1
	fi
done
echo done
