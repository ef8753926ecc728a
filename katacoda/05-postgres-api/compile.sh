#!/bin/sh
# Written by workshop lesson build. setup.sh runs it in the folder of the stage. It compiles
# what the steps run, so that nobody waits for that later. What cannot be compiled is said
# when it is run.
set -x
true
