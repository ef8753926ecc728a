#!/bin/sh
# Runs podruntime with an output that cannot be written, beside a pod that runs. Run it at the top of
# the exercise's copy, with the lab up.
. 04-informer-queue/lesson/reproduce/podruntime.sh
