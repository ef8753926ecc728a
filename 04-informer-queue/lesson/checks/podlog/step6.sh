#!/bin/sh
# Step 6: a sum drifted because the cache was changed, and the detector found it.
cd "$(dirname "$0")/../../.." || exit 1

for program in mutates copies; do
	if [ "$(grep -cs "^Pods in namespace default" "$program.log")" -lt 4 ] 2>/dev/null || [ ! -f "$program.log" ]; then
		echo "$program.log does not have four lines of default yet: run ./bin/$program, and label the pod bell three times"
		exit 1
	fi
done
if ! grep -q "^panic: cache .* modified" detector.log 2>/dev/null; then
	echo "detector.log shows no panic yet: KUBE_CACHE_MUTATION_DETECTOR=true ./bin/mutates > detector.log 2>&1"
	exit 1
fi
echo done
