#!/bin/sh
# Step 6: the shell syntax of horn has been printed, and first/ tries again and again to read a schedule.
cd "$(dirname "$0")/../../.." || exit 1

if [ "$(cat horn.log 2>/dev/null)" != "YAY | tr A-Z a-z" ]; then
	echo "horn.log doesn't have the line 'YAY | tr A-Z a-z' yet: create the At horn while ./bin/first runs"
	exit 1
fi
if [ "$(grep -cs "reading the schedule" schedule.log)" -lt 10 ] 2>/dev/null || [ ! -f schedule.log ]; then
	echo "schedule.log does not have ten errors yet: run ./bin/first with the At tide"
	exit 1
fi
if [ "$(kubectl get at tide -o jsonpath='{.spec.schedule}' 2>/dev/null)" != tomorrow ]; then
	echo "there is no At tide with the schedule tomorrow: remove the rule of the CRD, and create it"
	exit 1
fi
if ! kubectl get crd ats.cnat.programming-kubernetes.info -o yaml | grep -q "the schedule is not a time"; then
	echo "the CRD has no rule for the schedule: kubectl apply -f config/crd"
	exit 1
fi
echo done
