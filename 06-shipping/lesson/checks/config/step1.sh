#!/bin/sh
# There are an image, and manifests for a region.
cd "$(dirname "$0")/../../.." || exit 1

if [ ! -e ../bin/cnat-manager.tar ]; then
	echo "there is no image ../bin/cnat-manager.tar yet: make it as the step does"
	exit 1
fi
if ! grep -q 'REGION: coast' install.yaml 2>/dev/null; then
	echo "install.yaml has no manifests for the region coast yet: REGION=coast sh dist.sh > install.yaml"
	exit 1
fi
echo done
