// Command printclusters prints the PostgresClusters of a namespace, and what happens to them.
package main

import (
	"example.com/hacking-a-controller/05-crd-operator/cli"
	"example.com/hacking-a-controller/05-crd-operator/postgres/printclusters"
)

func main() { cli.Main(printclusters.Command()) }
