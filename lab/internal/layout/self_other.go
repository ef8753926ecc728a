//go:build !linux

package layout

// Self is the program that runs, to be started once more. If its file was replaced
// meanwhile, it is the newer one.
func Self() (string, error) { return Executable() }
