#!/bin/sh
# The manager has run both operators, in its region.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q 'the cluster does not know ats' missing.log 2>/dev/null; then
	echo "missing.log does not show yet that the kinds are missing: run the manager before you apply config/crd"
	exit 1
fi
for line in '"msg":"wrote the status","region":"coast".*"phase":"DONE"' '"msg":"apply","region":"coast"'; do
	if ! grep -q "$line" manager.log 2>/dev/null; then
		echo "manager.log does not show yet that both operators have worked in the region coast: run the manager with REGION=coast, and apply config/samples"
		exit 1
	fi
done
echo done
