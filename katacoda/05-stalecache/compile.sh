#!/bin/sh
# Written by workshop lesson build. setup.sh runs it in the folder of the stage. It compiles
# what the steps run, so that nobody waits for that later. What cannot be compiled is said
# when it is run.
set -x
go test -exec=true -count=1 -v -run TestWithAFrozenCache ./stalecache
go build -o /dev/null ./cmd/controllerruntime
go test -exec=true -count=1 -run '^$' -bench Ways -benchtime 1x ./stalecache
true
