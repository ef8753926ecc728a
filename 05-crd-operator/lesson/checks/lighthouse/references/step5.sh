#!/bin/sh
# Step 5: Bob's Lighthouse has shown a Secret to the office that he can't read, and it's gone.
cd "$(dirname "$0")/../../../.." || exit 1

if ! grep -q TokenRefused deputy.log 2>/dev/null; then
	echo "deputy.log doesn't show that the office has refused robot's token: be Bob, and create longships"
	exit 1
fi
if kubectl get lighthouse longships >/dev/null 2>&1; then
	echo "the Lighthouse longships is still there: delete it, and annotate it"
	exit 1
fi
echo done
