#!/bin/sh
# The schedule was changed before RUNNING was written, and not after.
cd "$(dirname "$0")/../../.." || exit 1

case $(kubectl get at example-at -o jsonpath='{.status.phase} {.spec.schedule}' 2>/dev/null) in
"RUNNING 2020-01-01T00:00:00Z") echo done ;;
RUNNING*)
	echo "example-at has another schedule than it had when it became RUNNING: delete it, and run this step again"
	exit 1
	;;
*)
	echo "example-at is not RUNNING: create it, and write its status"
	exit 1
	;;
esac
