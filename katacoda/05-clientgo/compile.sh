#!/bin/sh
# Written by workshop lesson build. setup.sh runs it in the folder of the stage. It compiles
# what the steps run, so that nobody waits for that later. What cannot be compiled is said
# when it is run.
set -x
go test -exec=true -count=1 -v -run TestAKeyComesByTheWallClock ./wallclock
go build -o /dev/null ./cmd/clientgo ./cmd/controllerruntime
go test -exec=true -count=1 -v -run 'TestBehaviour/together/(an_At_costs|the_status_shows_how)' ./clientgo ./controllerruntime
go test -exec=true -count=1 -v -run 'TestTheQueueGoesByTheClock|TestAfterTheEndNoReconcileBegins|TestAReconcileThatHasBegunIsFinished' ./controllerruntime
go build -o /dev/null ./first
go -C ../tools/pinned/generate tool -n controller-gen
true
