// Image makes the image of a member, without Docker.
package main

import (
	"example.com/hacking-a-controller/05-crd-operator/cli"
	"example.com/hacking-a-controller/05-crd-operator/postgres/image"
)

func main() { cli.Main(image.Command()) }
