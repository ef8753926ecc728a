// Command writer writes rows to a PostgresCluster, and counts them in the end.
package main

import (
	"example.com/hacking-a-controller/05-crd-operator/cli"
	"example.com/hacking-a-controller/05-crd-operator/postgres/writer"
)

func main() { cli.Main(writer.Command()) }
