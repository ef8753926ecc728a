#!/bin/sh
# Step 8: both requests were seen on the wire, and the second names the version
# of the first.
cd "$(dirname "$0")/../.." || exit 1

version=$(sed -n 's/^{"kind":"PodList".*"metadata":{"resourceVersion":"\([0-9]*\)"},"items".*/\1/p' wire.log 2>/dev/null)
if [ -z "$version" ]; then
	echo "wire.log does not show the answer to the list yet: run watch raw with --show-wire"
	exit 1
fi
if ! grep -q "^> GET .*resourceVersion=$version&.*watch=true" wire.log; then
	echo "wire.log does not show a watch from version $version, which is that of the list"
	exit 1
fi
if ! grep -q '^{"type":"MODIFIED"' wire.log; then
	echo "wire.log shows no event yet: label the pod while watch raw runs"
	exit 1
fi
echo done
