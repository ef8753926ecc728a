// Command permissions compares what a service account may do with what it did:
//
//	permissions --service-account cnat-system/cnat-manager --rules install.yaml .lab/logs/audit*.log
//
// It exits with 1 when a right was never used, or one was missing.
package main

import (
	"os"

	"example.com/hacking-a-controller/06-shipping/tools/permissions"
)

func main() {
	os.Exit(permissions.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
