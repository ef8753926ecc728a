#!/bin/sh
# Seven clusters were refused.
cd "$(dirname "$0")/../../../.." || exit 1

if [ "$(grep -cE 'is invalid|strict decoding error' refused.log 2>/dev/null)" != 7 ]; then
	echo "refused.log does not show seven refusals yet: create the seven clusters"
	exit 1
fi
echo done
