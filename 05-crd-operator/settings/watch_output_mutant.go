//go:build nowatch

package settings

import "sigs.k8s.io/controller-runtime/pkg/builder"

// watchOutput is the mistake, for mutant_test.go: the operator does not watch
// what it makes.
func watchOutput(*builder.TypedBuilder[string]) {}
