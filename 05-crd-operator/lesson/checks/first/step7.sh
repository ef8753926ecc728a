#!/bin/sh
# Step 7: nothing is left of this part.
cd "$(dirname "$0")/../../.." || exit 1

if kubectl get crd -o name | grep -qE 'ats\.cnat|settingslayers'; then
	echo "the API server still knows the kinds of this stage: kubectl delete -f config/crd"
	exit 1
fi
if [ -n "$(kubectl get pods -l app -o name)" ] || kubectl get pod buoy-pod >/dev/null 2>&1; then
	echo "pods of this part are left: delete them"
	exit 1
fi
for left in *.log; do
	if [ -e "$left" ]; then
		echo "$left is left: remove it"
		exit 1
	fi
done
echo done
