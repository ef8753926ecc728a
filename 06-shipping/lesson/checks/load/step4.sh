#!/bin/sh
# Step 4: an account that may only read metrics got no profile, and another one did.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q Forbidden forbidden.log 2>/dev/null; then
	echo "forbidden.log does not have a refusal: ask for the profile as metrics-reader"
	exit 1
fi
if ! grep -q 'Type: inuse_space' heap.log 2>/dev/null; then
	echo "heap.log is no profile: sh profile.sh heap > heap.pprof, and go tool pprof"
	exit 1
fi
if [ -n "$(kubectl get clusterrolebinding cnat-profile-reader --ignore-not-found -o name 2>/dev/null)" ]; then
	echo "the account that may read profiles is still there: kubectl delete -f config/profile-reader/account.yaml"
	exit 1
fi
echo done
