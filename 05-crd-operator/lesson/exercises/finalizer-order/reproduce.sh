#!/bin/sh
# Deletes the pod of an At, while the API server refuses the status of Ats.
cd "$(dirname "$0")/../../.." || exit 1
. lesson/reproduce.sh
pod() { kubectl get pod payment-pod --ignore-not-found -o jsonpath='{.metadata.uid}'; }
gone() { [ "$(pod)" != "$first" ] || is pod/payment-pod .status.phase Failed; }
another() { [ -n "$(pod)" ] && [ "$(pod)" != "$first" ]; }
none() { [ -z "$(pod)" ]; }
show() {
	case $(pod) in
	"$first") echo 'the pod is still there' ;;
	'') echo 'the pod is gone' ;;
	*) echo 'there is a second pod' ;;
	esac
}
begin
through
operator controllerruntime
at payment 'echo pay; sleep 600'
await is pod/payment-pod .status.phase Running
first=$(pod)

through --reject-paths='/status$'
echo 'the API server refuses the status of Ats'
kubectl delete pod payment-pod --now --wait=false
await gone
within 5 another || :
show

through
echo 'the API server takes the status of Ats'
within 10 none || :
show
kubectl get at payment -o jsonpath='{range .status.conditions[*]}{.type}={.status} {.reason}: {.message}{"\n"}{end}'
