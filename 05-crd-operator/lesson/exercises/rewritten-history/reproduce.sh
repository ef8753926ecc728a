#!/bin/sh
# Changes the command of an At that is RUNNING, and of one that is DONE.
cd "$(dirname "$0")/../../.." || exit 1
. lesson/reproduce.sh
begin
at payroll 'cat salaries.csv'
for phase in RUNNING DONE; do
	kubectl patch at payroll --subresource=status --type=merge -p "{\"status\":{\"phase\":\"$phase\"}}" >/dev/null
	echo "$phase:"
	kubectl patch at payroll --type=merge -p '{"spec":{"command":"echo nothing to see"}}' 2>&1 || :
done
