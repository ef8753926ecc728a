// Command sbom lists what an archive of `make offline-bundle` contains, as a CycloneDX bill of
// materials: Go, the Go modules whose sources are in it, and PostgreSQL. It reads the archive
// itself, so the list has what is there, and not what should be.
//
//	sbom ARCHIVE VERSION >bom.json
package main

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	if len(args) != 2 {
		fmt.Fprintln(stderr, "usage: sbom ARCHIVE VERSION")
		return 2
	}
	components, err := open(args[0])
	if err != nil {
		fmt.Fprintln(stderr, "sbom:", err)
		return 1
	}
	encoder := json.NewEncoder(stdout)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false) // a & in a purl
	if err := encoder.Encode(newDocument(filepath.Base(args[0]), args[1], components)); err != nil {
		fmt.Fprintln(stderr, "sbom:", err)
		return 1
	}
	return 0
}

func open(archive string) ([]component, error) {
	file, err := os.Open(archive)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("%s is no archive of make offline-bundle: %w", archive, err)
	}
	components, err := read(unpacked)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", archive, err)
	}
	return components, nil
}
