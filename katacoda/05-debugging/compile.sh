#!/bin/sh
# Written by workshop lesson build. setup.sh runs it in the folder of the stage. It compiles
# what the steps run, so that nobody waits for that later. What cannot be compiled is said
# when it is run.
set -x
go build -o /dev/null ./cmd/controllerruntime
go build -o /dev/null -gcflags='example.com/...=-N -l' ./cmd/controllerruntime
go -C ../tools/pinned/dlv tool -n dlv
true
