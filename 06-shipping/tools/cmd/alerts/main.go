// Command alerts reads what the manager answers to GET /metrics, and prints each metric
// that is not there although an alert or a dashboard of the stage queries it:
//
//	alerts 06-shipping < metrics.log
//
// It exits with 1 when one is missing.
package main

import (
	"os"

	"example.com/hacking-a-controller/06-shipping/tools/alerts"
)

func main() { os.Exit(alerts.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
