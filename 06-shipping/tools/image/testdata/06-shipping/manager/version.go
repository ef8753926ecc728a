// Package manager is where the real manager is, too.
package manager

// The linker fills these in.
var (
	Version  = "unknown"
	Revision = "unknown"
)
