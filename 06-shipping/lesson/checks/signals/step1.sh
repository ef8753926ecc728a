#!/bin/sh
# The manager sends traces, and the collector prints them.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q 'HTTP GET .*/v1/pods 200' traces.log 2>/dev/null; then
	echo "traces.log has no span of a list of pods yet: start bin/sink, and then the manager with OTEL_EXPORTER_OTLP_ENDPOINT"
	exit 1
fi
echo done
