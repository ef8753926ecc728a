#!/bin/sh
# Step 4: a sum drifted because the cache was changed, and the detector found it.
cd "$(dirname "$0")/../../.." || exit 1

if [ ! -f mutates.log ] || [ "$(grep -c "^Pods in namespace default" mutates.log)" -lt 4 ]; then
	echo "mutates.log doesn't have four lines of default yet: run ./bin/mutates, and label the pod bell three times"
	exit 1
fi
if ! grep -q "^panic: cache .* modified" detector.log 2>/dev/null; then
	echo "detector.log shows no panic yet: KUBE_CACHE_MUTATION_DETECTOR=true ./bin/mutates > detector.log 2>&1"
	exit 1
fi
echo done
