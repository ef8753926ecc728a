#!/bin/sh
# Step 1: the office is open, and has registered a light.
cd "$(dirname "$0")/../../../.." || exit 1

if ! curl -sS http://127.0.0.1:8019/admin/books 2>/dev/null | grep -q '"what":"registered","token":"one"'; then
	echo "the office has not registered the light one: start bin/office, and send a POST"
	exit 1
fi
echo done
