#!/bin/sh
# What the lesson made is gone.
cd "$(dirname "$0")/../../../.." || exit 1

if ! crds=$(kubectl get crds -o name 2>&1); then
	echo "the cluster does not answer: $crds"
	exit 1
fi
case $crds in
*settingslayers*)
	echo "the kind SettingsLayer is still there: kubectl delete -f config/crd/settings.example.com_settingslayers.yaml"
	exit 1
	;;
esac
for object in pod/reader configmap/settings; do
	if kubectl get "$object" >/dev/null 2>&1; then
		echo "$object is still there: kubectl delete $object"
		exit 1
	fi
done
for file in ./*.log; do
	if [ -e "$file" ]; then
		echo "$file is still there: rm $file"
		exit 1
	fi
done
echo done
