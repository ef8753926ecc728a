#!/bin/sh
# Each mistake was refused.
cd "$(dirname "$0")/../../.." || exit 1

for answer in 'the schedule is not a time' 'a number of seconds, 0 or more' 'say what to run' 'must be of type string' 'unknown field'; do
	if ! grep -q "$answer" refused.log 2>/dev/null; then
		echo "refused.log does not have \"$answer\" yet: create the wrong Ats of this step"
		exit 1
	fi
done
if kubectl get at wrong >/dev/null 2>&1; then
	echo "there is an At named wrong, which should have been refused: delete it, and apply config/crd again"
	exit 1
fi
echo done
