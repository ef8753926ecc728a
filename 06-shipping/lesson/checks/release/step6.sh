#!/bin/sh
# Step 6: the released image runs, and one with another digest does not.
cd "$(dirname "$0")/../../.." || exit 1

if ! [ -s push.log ] || ! grep -q "$(sed 's/.*@//' push.log)" running.log 2>/dev/null; then
	echo "running.log does not have the digest of push.log: install the manager by its digest"
	exit 1
fi
if ! grep -q 'sha256:00.*is not in the lab' refused.log 2>/dev/null; then
	echo "refused.log does not show that another digest is refused: run the pod stranger"
	exit 1
fi
echo done
