// Image builds the manager's image, without Docker.
package main

import (
	"example.com/hacking-a-controller/05-crd-operator/cli"
	"example.com/hacking-a-controller/06-shipping/tools/image"
)

func main() { cli.Main(image.Command(image.Build)) }
