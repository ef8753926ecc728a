#!/bin/sh
# Written by workshop lesson build. setup.sh runs it in the folder of the stage. It compiles
# what the steps run, so that nobody waits for that later. What cannot be compiled is said
# when it is run.
set -x
go test -exec=true -count=1 -count=1 -v ./lifecycle
go test -exec=true -count=1 -count=1 -v -run '^(TestFake|TestWhatTheFakeClientAnswers)$' ./testing
go test -exec=true -count=1 -count=1 -v -run '^(TestSynctest|TestARequestTakesNoFakeTime)$' ./testing
go test -exec=true -count=1 -count=1 -v -run '^(TestEnvtest|TestWhatTheAPIServerAnswers|TestNothingHappensToAPod)$' ./testing
go build -o /dev/null ./cmd/controllerruntime
true
