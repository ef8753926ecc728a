#!/bin/sh
# The API server is told to call the operator, which has served, and the old manifest was applied.
cd "$(dirname "$0")/../../../.." || exit 1

if ! grep -q 'Serving webhook server' versions.log 2>/dev/null; then
	echo "versions.log does not show that the webhook has served: bin/lighthouse -certs=certs -listen=127.0.0.1"
	exit 1
fi
case $(kubectl get crd lighthouses.coast.example.com -o jsonpath='{.spec.conversion.webhook.clientConfig.url}' 2>/dev/null) in
https://127.0.0.1:*) ;;
*)
	echo "the API server is not told to call the webhook yet: sh lighthouse/versions/trust.sh certs/tls.crt"
	exit 1
	;;
esac
echo done
