// Command load measures the manager in a lab of its own: how much it takes, where it bends, and
// whether it holds for hours. make load-6 and make soak-6 build it with all that it needs.
package main

import (
	"example.com/hacking-a-controller/05-crd-operator/cli"
	"example.com/hacking-a-controller/06-shipping/load"
)

func main() { cli.Main(load.Command()) }
