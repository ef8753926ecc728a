#!/bin/sh
# A write from a stale read has taken a label away; the one with a version was refused.
cd "$(dirname "$0")/../../.." || exit 1

labels=$(kubectl -n harbour get secret db -o jsonpath='{.metadata.labels}' 2>/dev/null)
case $labels in
*'"team":"pilots"'*) ;;
*)
	echo "the copy harbour/db has no label team=pilots: label it after it was read, and replace it with a resourceVersion"
	exit 1
	;;
esac
echo done
