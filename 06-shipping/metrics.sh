#!/bin/sh
# Prints the metrics of the manager, as a Prometheus reads them.
exec sh "$(dirname "$0")/read.sh" metrics-reader /metrics
