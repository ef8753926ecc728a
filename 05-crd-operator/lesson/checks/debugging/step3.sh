#!/bin/sh
# Step 3: the audit log and the managed fields name the writer.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q 'system:serviceaccount:default:cnat hot update ats 200' audit.log 2>/dev/null; then
	echo "audit.log does not name hot as the writer of the Ats: run it as the service account cnat, and count the audit log"
	exit 1
fi
if ! grep -q '^hot.*status' managers.log 2>/dev/null; then
	echo "managers.log does not name hot as the manager of the status: print the managed fields of buoy"
	exit 1
fi
echo done
