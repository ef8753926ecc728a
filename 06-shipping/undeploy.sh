#!/bin/sh
# Uninstalls the manager, with the CRDs and all Ats and SettingsLayers.
#
# The Ats go first, while the manager runs: their pods have a finalizer that it removes.
# Without it, they would be Terminating forever. UNDEPLOY_TIMEOUT is for how many
# seconds to wait for them.
set -eu
cd "$(dirname "$0")"

# remaining prints the Ats, and the pods that have the finalizer.
remaining() {
	# shellcheck disable=SC2016 # $pod is for the template
	kubectl get ats -A -o go-template='{{range .items}}at {{.metadata.namespace}}/{{.metadata.name}}{{"\n"}}{{end}}' &&
		kubectl get pods -A -l app.kubernetes.io/managed-by=cnat -o go-template='{{range .items}}{{$pod := .metadata}}{{range .metadata.finalizers}}{{if eq . "cnat.programming-kubernetes.info/tracking"}}pod {{$pod.namespace}}/{{$pod.name}}{{"\n"}}{{end}}{{end}}{{end}}'
}

crd=$(kubectl get crd ats.cnat.programming-kubernetes.info --ignore-not-found -o name)
if [ -n "$crd" ]; then
	# In the foreground: an At is gone when its pod is.
	kubectl delete ats --all -A --cascade=foreground --wait=false
	seconds=0 before=
	while now=$(remaining) || exit 1; [ -n "$now" ]; do
		if [ "$now" != "$before" ]; then
			echo "waiting for $(echo "$now" | wc -l | tr -d ' ') to go, such as $(echo "$now" | head -n 1)"
			before=$now
		fi
		if [ "$seconds" -ge "${UNDEPLOY_TIMEOUT:=120}" ]; then
			echo "undeploy.sh: after $UNDEPLOY_TIMEOUT seconds these are not gone, and the manager was left installed:" >&2
			echo "$now" >&2
			echo "see whether it runs, with kubectl get pods -n cnat-system, and call this again; if it cannot run any more, remove the finalizer from each pod, with kubectl patch pod NAME -n NAMESPACE --type=merge -p '{\"metadata\":{\"finalizers\":null}}'" >&2
			exit 1
		fi
		sleep 1
		seconds=$((seconds + 1))
	done
fi
# What overlays have beside this goes with the namespace, but for the roles in other
# namespaces, and what read.sh has made for those who read.
sh dist.sh | kubectl delete --ignore-not-found -f -
kubectl delete rolebindings,roles -A --field-selector=metadata.name=cnat-manager
kubectl delete clusterrolebinding cnat-metrics-reader cnat-profile-reader --ignore-not-found
kubectl delete clusterrole cnat-profile-reader --ignore-not-found
