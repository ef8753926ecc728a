#!/bin/sh
# The metrics were read, and have the region.
cd "$(dirname "$0")/../../.." || exit 1

for metric in 'cnat_ats{phase="DONE"}' 'cnat_manager_info{region="harbour"'; do
	if ! grep -qF "$metric" metrics.log 2>/dev/null; then
		echo "metrics.log does not have $metric yet: sh metrics.sh > metrics.log"
		exit 1
	fi
done
echo done
