#!/bin/sh
# The API server knows the kinds of this stage, and can explain At.
cd "$(dirname "$0")/../../.." || exit 1

if ! kubectl explain at.spec.schedule >/dev/null 2>&1; then
	echo "the API server does not know At yet: kubectl apply -f config/crd"
	exit 1
fi
if [ ! -e schema.log ] || [ -s schema.log ]; then
	echo "what controller-gen writes is not what is committed, or was not compared: run it, and git status --short api config/crd | tee schema.log"
	exit 1
fi
echo done
