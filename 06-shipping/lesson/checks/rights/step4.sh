#!/bin/sh
# People use Ats with edit and view.
cd "$(dirname "$0")/../../.." || exit 1

if ! kubectl get at adas -n team-a >/dev/null 2>&1; then
	echo "Ada has no At in team-a yet: bind edit to her there, and create it with --as=ada"
	exit 1
fi
if ! grep -q 'User "bob" cannot delete resource "ats"' view.log 2>/dev/null; then
	echo "view.log does not show yet that Bob may not delete it: bind view to him in team-a, and try it with --as=bob"
	exit 1
fi
echo done
