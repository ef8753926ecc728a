// Command inputs prints a hash of what the tests of a module read outside of it: the
// programs in KUBEBUILDER_ASSETS, the PostgreSQL in PG_HOME, and the files that they name.
//
//	inputs REPOSITORY FOLDER
//
// Go answers a test from its cache if nothing has changed that it knows of, and of
// files outside the module it knows nothing. tools/scripts/test-module.sh puts the hash into the
// variable TEST_INPUTS, and Go does know which variables a test has read.
package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	os.Exit(run(os.Args[1:], os.Getenv("KUBEBUILDER_ASSETS"), os.Getenv("PG_HOME"), os.Stdout, os.Stderr))
}

func run(args []string, assets, postgres string, stdout, stderr io.Writer) int {
	if len(args) != 2 {
		fmt.Fprintln(stderr, "inputs: name the repository and the folder of a module in it: inputs . 06-shipping")
		return 2
	}
	digest, err := hash(args[0], args[1], assets, postgres)
	if err != nil {
		fmt.Fprintln(stderr, "inputs:", err)
		return 1
	}
	fmt.Fprintln(stdout, digest)
	return 0
}
