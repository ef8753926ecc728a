#!/bin/sh
# All stages were green.
cd "$(dirname "$0")/../../.." || exit 1

for made in image.tar namespace-labels-0.1.0.tgz; do
	if [ ! -e "../bin/mine/out/$made" ]; then
		echo "there is no ../bin/mine/out/$made yet: run the stages image and chart"
		exit 1
	fi
done
if ! grep -q 'and no restart' soak.log 2>/dev/null; then
	echo "soak.log doesn't have the end of a soak yet: run the stages smoke and soak"
	exit 1
fi
echo done
