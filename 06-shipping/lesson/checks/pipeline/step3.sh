#!/bin/sh
# A right was missing, smoke has found it, and the chart is as it was.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q 'pipeline.sh: smoke failed' missing.log 2>/dev/null; then
	echo "missing.log doesn't show yet that smoke failed: take the right to create away, and run the pipeline"
	exit 1
fi
if ! grep -q 'verbs: \[create\]' ../bin/mine/chart/values.yaml; then
	echo "the chart doesn't grant the right to create: put values.yaml.bak back"
	exit 1
fi
echo done
