// Secretsync copies chosen secrets from one namespace to others, and keeps the
// copies as they should be.
package main

import (
	"example.com/hacking-a-controller/04-informer-queue/cli"
	"example.com/hacking-a-controller/04-informer-queue/secretsync"
)

func main() { cli.Main(secretsync.Command()) }
