#!/bin/sh
# A read has opened a watch of all pods; the finished operator watches its own.
cd "$(dirname "$0")/../../.." || exit 1

if ! lab logs requests | grep ' unowned GET /api/v1/pods?.*watch=true' | grep -qv labelSelector; then
	echo "lab logs requests shows no watch of all pods: lab run bin/unowned, and create the At read"
	exit 1
fi
if ! grep -q 'labelSelector=' watch.log 2>/dev/null; then
	echo "watch.log shows no watch with a selector: lab run bin/controllerruntime, and look for its watch"
	exit 1
fi
if [ "$(grep -c '^--- PASS' hidden.log 2>/dev/null)" != 3 ]; then
	echo "hidden.log does not show that three tests passed: run them in ./controllerruntime"
	exit 1
fi
echo done
