#!/bin/sh
# Puts a file into an archive that cannot be read to its end, and then one that can.
cd "$(dirname "$0")/../../../postgres" || exit 1
if found=$(GOWORK=off go test -count=1 ./archive -run TestWhatWasCutOffHasNoName); then
	echo 'the archive has all of it'
else
	echo "$found" | sed -n 's/^[[:space:]]*Error:[[:space:]]*//p'
fi
