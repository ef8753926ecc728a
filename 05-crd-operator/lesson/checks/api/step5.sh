#!/bin/sh
# The account of the operator has written the status of apart, and not its spec.
cd "$(dirname "$0")/../../.." || exit 1

if ! kubectl auth can-i update ats --subresource=status --as=system:serviceaccount:default:operator >/dev/null 2>&1; then
	echo "the service account operator may not write the status of Ats: bind it to the role clientgo"
	exit 1
fi
if [ "$(kubectl get at apart -o jsonpath='{.spec.command} {.status.phase}' 2>/dev/null)" != "echo NAY DONE" ]; then
	echo "apart should have the command echo NAY and the phase DONE: run both blocks of this step"
	exit 1
fi
echo done
