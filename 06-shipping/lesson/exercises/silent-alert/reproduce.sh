#!/bin/sh
# Lets the engine of Prometheus evaluate the query of CnatManagerDown in three cases.
cd "$(dirname "$0")/../../../tools" || exit 1
exec go run ../lesson/exercises/silent-alert/reproduce.go
