#!/bin/sh
# Without the webhook, only the stored version was read.
cd "$(dirname "$0")/../../../.." || exit 1

if ! grep -q '^read v1alpha1: ok' reads.log 2>/dev/null || ! grep -q '^read v1beta1: failed' reads.log; then
	echo "reads.log does not show yet what can be read without the webhook: stop bin/lighthouse, and read both versions"
	exit 1
fi
echo done
