#!/bin/sh
# What the lesson made is gone.
cd "$(dirname "$0")/../../.." || exit 1

if ! kinds=$(kubectl get crd,namespace,validatingadmissionpolicy,validatingwebhookconfiguration -o name 2>&1); then
	echo "the cluster does not answer: $kinds"
	exit 1
fi
for left in /ats.cnat /settingslayers /harbour /cnat-closed-namespaces; do
	if echo "$kinds" | grep -q "$left"; then
		echo "$(echo "$kinds" | grep "$left" | head -n 1) is still there: delete it"
		exit 1
	fi
done
for left in certs webhook.log ignored.log slow.log timeout.log policy.log reopened.log; do
	if [ -e "$left" ]; then
		echo "$left is still there: remove it"
		exit 1
	fi
done
echo done
