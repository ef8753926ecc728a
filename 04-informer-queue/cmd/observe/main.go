// Observe makes a controller out of a script. See package observe.
package main

import (
	"os"

	"example.com/hacking-a-controller/04-informer-queue/cli"
	"example.com/hacking-a-controller/04-informer-queue/observe"
)

func main() {
	if os.Getpid() == 1 {
		os.Exit(observe.Init(os.Args[1:]))
	}
	stop, kill := observe.Signals()
	os.Exit(cli.Run(stop, observe.Command(kill), os.Args[1:], os.Stdout, os.Stderr))
}
