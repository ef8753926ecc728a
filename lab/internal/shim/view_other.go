//go:build !linux

package shim

import "errors"

func buildView(string, *Spec) error {
	return errors.New("a container can have a root directory of its own on Linux only")
}
