#!/bin/sh
# The image was made.
cd "$(dirname "$0")/../../../.." || exit 1

if ! grep -q '^made ' image.log 2>/dev/null || [ ! -f ../bin/postgres.tar ]; then
	echo "there is no image yet: make -C .. postgres | tee image.log, and lab load ../bin/postgres.tar"
	exit 1
fi
echo done
