// Command manager is the At operator and settings in one process, as it runs in
// a cluster.
package main

import (
	"os"

	"example.com/hacking-a-controller/05-crd-operator/cli"
	"example.com/hacking-a-controller/06-shipping/manager"
)

func main() { cli.Main(manager.Command(os.Getenv, manager.Run)) }
