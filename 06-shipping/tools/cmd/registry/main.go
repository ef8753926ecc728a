// Command registry is a container registry on this machine, for the lessons:
//
//	registry --address=127.0.0.1:5050
package main

import (
	"example.com/hacking-a-controller/05-crd-operator/cli"
	"example.com/hacking-a-controller/06-shipping/tools/registry"
)

func main() { cli.Main(registry.Command()) }
