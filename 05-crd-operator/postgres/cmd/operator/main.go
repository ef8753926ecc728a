// Command operator runs PostgresClusters.
package main

import (
	"example.com/hacking-a-controller/05-crd-operator/cli"
	"example.com/hacking-a-controller/05-crd-operator/postgres/operator"
)

func main() { cli.Main(operator.Command()) }
