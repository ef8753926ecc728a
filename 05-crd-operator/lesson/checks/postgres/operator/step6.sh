#!/bin/sh
# Rows are lost, because a person has allowed it.
cd "$(dirname "$0")/../../../.." || exit 1

if ! grep -q 'rows that were acknowledged are not there' unsafe.log 2>/dev/null; then
	echo "unsafe.log does not show lost rows yet: kill the third member, delete the disks of the other two, and set spec.allowDataLoss"
	exit 1
fi
echo done
