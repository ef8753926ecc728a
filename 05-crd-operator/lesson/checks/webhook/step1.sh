#!/bin/sh
# The API server is configured to call the webhook, which has run.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q 'Serving webhook server' webhook.log 2>/dev/null; then
	echo "webhook.log does not show that the webhook has served: bin/webhook --self-signed"
	exit 1
fi
case $(kubectl get validatingwebhookconfiguration cnat-closed-namespaces -o jsonpath='{.webhooks[0].clientConfig.url}' 2>/dev/null) in
https://127.0.0.1:*) ;;
*)
	echo "the API server is not told to call the webhook at 127.0.0.1: apply config/webhook/manifests.yaml with a url"
	exit 1
	;;
esac
if [ -z "$(kubectl get namespace harbour -o jsonpath='{.metadata.annotations.cnat\.programming-kubernetes\.info/closed}' 2>/dev/null)" ]; then
	echo "the namespace harbour is not closed: annotate it"
	exit 1
fi
echo done
