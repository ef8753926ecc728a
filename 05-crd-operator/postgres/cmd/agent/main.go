// Agent runs one PostgreSQL of a PostgresCluster. See package member. The operator is in it, too, so
// that one image has both.
package main

import (
	"example.com/hacking-a-controller/05-crd-operator/cli"
	"example.com/hacking-a-controller/05-crd-operator/postgres/member"
	"example.com/hacking-a-controller/05-crd-operator/postgres/operator"
)

func main() {
	agent := member.Command()
	agent.AddCommand(operator.Command())
	cli.Main(agent)
}
