#!/bin/sh
# Step 3: an operator that registers first has left a registration behind, and it's struck off.
cd "$(dirname "$0")/../../../.." || exit 1

if ! grep -q '"number"' late-books.log 2>/dev/null; then
	echo "late-books.log doesn't show a registration without a Lighthouse yet: run bin/late, and delete the Lighthouse while the office is late"
	exit 1
fi
if curl --silent http://127.0.0.1:8019/admin/books | grep -q '"number"'; then
	echo "the registration is still in the Light List: be the clerk, and strike it off"
	exit 1
fi
echo done
