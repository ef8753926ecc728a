// Agent runs one PostgreSQL of a PostgresCluster. See package member.
package main

import (
	"example.com/hacking-a-controller/05-crd-operator/cli"
	"example.com/hacking-a-controller/05-crd-operator/postgres/member"
)

func main() { cli.Main(member.Command()) }
