#!/bin/sh
# A character was kept, until somebody wrote another flash.
cd "$(dirname "$0")/../../../.." || exit 1

if ! grep -q 'Serving webhook server' kept.log 2>/dev/null; then
	echo "kept.log does not show that the webhook has served: start bin/lighthouse as the step does"
	exit 1
fi
case $(kubectl get lighthouses.v1alpha1.coast.example.com longships -o jsonpath='{.spec.lamps} {.spec.flash}' 2>/dev/null) in
'2 long') ;;
*)
	echo "the Lighthouse longships does not have 2 lamps and the flash long yet: patch both in v1alpha1"
	exit 1
	;;
esac
echo done
