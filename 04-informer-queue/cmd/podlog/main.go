// Podlog logs what an informer reports about pods.
package main

import (
	"example.com/hacking-a-controller/04-informer-queue/cli"
	"example.com/hacking-a-controller/04-informer-queue/podlog"
)

func main() { cli.Main(podlog.Command()) }
