// Command bundle makes a bundle for the Operator Lifecycle Manager of the manifests that
// Kustomize builds, and a catalogue of bundles:
//
//	sh dist.sh v0.6.0 | bundle make --version=v0.6.0 --base=packaging/olm/base.yaml --output=packaging/bundle/v0.6.0
//	bundle catalog --output=packaging/catalog/cnat/catalog.yaml packaging/bundle/v0.6.0
package main

import (
	"os"

	"example.com/hacking-a-controller/06-shipping/tools/bundle"
)

func main() { os.Exit(bundle.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
