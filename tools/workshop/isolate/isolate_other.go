//go:build !linux

package isolate

import "errors"

// New makes a network. Its error says why this machine has none.
func New() (*Network, error) {
	return nil, errors.New("only Linux has network namespaces")
}
