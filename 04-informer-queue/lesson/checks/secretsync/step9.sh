#!/bin/sh
# The service account was refused one verb, got it back, and made its copy.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q 'cannot create resource.*failures=3' account.log 2>/dev/null; then
	echo "account.log does not show three failures yet: take the verb create away, and run secretsync as the service account"
	exit 1
fi
if ! grep -q '^created quay/mail:' account.log; then
	echo "account.log does not show that quay/mail was created: give the verb back while secretsync runs"
	exit 1
fi
if [ "$(kubectl auth can-i create secrets -n quay --as=system:serviceaccount:secretsync:secretsync 2>/dev/null)" != yes ]; then
	echo "the service account may not create secrets: kubectl apply -f secretsync/rbac.yaml"
	exit 1
fi
if kubectl auth can-i patch secrets -n quay --as=system:serviceaccount:secretsync:secretsync >/dev/null 2>&1; then
	echo "the service account may patch secrets, which it does not need: kubectl apply -f secretsync/rbac.yaml"
	exit 1
fi
echo done
