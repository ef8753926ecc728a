// Command inputs prints two hashes of what the tests of a module read outside of it:
//
//	inputs REPOSITORY FOLDER
//
// The first is of the files that they name, of the API server in KUBEBUILDER_ASSETS, and of the
// PostgreSQL in PG_HOME. The second is of all programs in KUBEBUILDER_ASSETS, for tests that
// start whole labs.
//
// Go answers a test from its cache if nothing has changed that it knows of, and of
// files outside the module it knows nothing. tools/scripts/test-module.sh puts the hashes into
// the variables TEST_INPUTS and LAB_INPUTS, and Go does know which variables a test has read.
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
	found, err := find(args[0], args[1], assets, postgres)
	if err != nil {
		fmt.Fprintln(stderr, "inputs:", err)
		return 1
	}
	fmt.Fprintln(stdout, found.test, found.lab)
	return 0
}
