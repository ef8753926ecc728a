#!/bin/sh
# Written by workshop lesson build. setup.sh runs it in the folder of the stage. It compiles
# what the steps run, so that nobody waits for that later. What cannot be compiled is said
# when it is run.
set -x
go build -o /dev/null ./cmd/settings
go test -exec=true -count=1 -v -run '^TestHappyPath$/^a_layer' ./settings
go test -exec=true -count=1 -v -run '^TestDrift$/^(a_value|it_is_deleted$|the_label)' ./settings
true
