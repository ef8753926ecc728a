#!/bin/sh
# No error is counted, and an At is overdue.
cd "$(dirname "$0")/../../.." || exit 1

if ! grep -q '^controller_runtime_reconcile_errors_total{controller="controllerruntime"} 0' metrics.log 2>/dev/null || ! grep -q '^cnat_start_overdue_seconds [1-9]' metrics.log; then
	echo "metrics.log doesn't show an At that is overdue, and no errors, yet: read the metrics while the quota is full"
	exit 1
fi
echo done
