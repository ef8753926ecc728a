#!/bin/sh
# Step 3: without the watch, wolf got its number when it was annotated.
if [ "$(kubectl get lighthouse wolf -o jsonpath='{.metadata.annotations.note}' 2>/dev/null)" != hello ]; then
	echo "the Lighthouse wolf has no annotation yet: create its Secret while bin/unwatched runs, wait, and annotate it"
	exit 1
fi
if [ -z "$(kubectl get lighthouse wolf -o jsonpath='{.status.number}')" ]; then
	echo "the Lighthouse wolf has no number yet: let bin/unwatched run, and annotate it"
	exit 1
fi
echo done
