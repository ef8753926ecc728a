#!/bin/sh
# Prints a profile of the manager, for go tool pprof: profile.sh heap, goroutine, or 'profile?seconds=10'
# for processor time.
exec sh "$(dirname "$0")/read.sh" profile-reader "/debug/pprof/$1"
