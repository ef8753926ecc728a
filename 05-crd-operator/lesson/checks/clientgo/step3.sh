#!/bin/sh
# Both forms pass the same cases.
cd "$(dirname "$0")/../../.." || exit 1

for form in clientgo controllerruntime; do
	if ! grep -q "^ok.*/$form" behaviour.log 2>/dev/null; then
		echo "behaviour.log does not show that $form passes: run the cases of TestBehaviour for both forms"
		exit 1
	fi
done
if [ "$(grep -c 'PASS: .*/an_At_costs' behaviour.log)" != 2 ]; then
	echo "behaviour.log does not show the case an_At_costs_five_writes_and_one_read for both forms: set KUBEBUILDER_ASSETS, and run it"
	exit 1
fi
echo done
