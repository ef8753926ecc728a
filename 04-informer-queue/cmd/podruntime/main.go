// Podruntime prints for how long the pods of each namespace have been running.
package main

import (
	"example.com/hacking-a-controller/04-informer-queue/cli"
	"example.com/hacking-a-controller/04-informer-queue/podruntime"
)

func main() { cli.Main(podruntime.Command()) }
