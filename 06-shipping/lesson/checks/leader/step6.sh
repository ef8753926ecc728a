#!/bin/sh
# What the lesson made is gone.
cd "$(dirname "$0")/../../.." || exit 1

if ! crds=$(kubectl get crds -o name 2>&1); then
	echo "the cluster does not answer: $crds"
	exit 1
fi
case $crds in
*cnat* | *settings*)
	echo "the kinds are still there: kubectl delete -k config/crd"
	exit 1
	;;
esac
if kubectl get lease/cnat-manager >/dev/null 2>&1; then
	echo "lease/cnat-manager is still there: kubectl delete lease cnat-manager"
	exit 1
fi
if [ -n "$(kubectl get pods -l app.kubernetes.io/managed-by=cnat -o name)" ]; then
	echo "there are pods of Ats still: remove their finalizers, as part 7 of stage 5 shows"
	exit 1
fi
for file in one.log two.log counts.log killed.log paused.log last.log leader1.log leader2.log metrics.token metrics.header; do
	if [ -e "$file" ]; then
		echo "$file is still there: rm $file"
		exit 1
	fi
done
echo done
